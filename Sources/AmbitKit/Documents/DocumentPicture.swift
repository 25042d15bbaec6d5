internal import Foundation
internal import Wire

/// The sizes of a document's pictures, as keys of the dictionary under `URLResourceKey.thumbnailDictionaryKey`.
///
///     override func fileAttributesToWrite(to url: URL, for operation: SaveOperation) throws -> [AnyHashable: Any] {
///       [URLResourceKey.thumbnailDictionaryKey: [URLThumbnailDictionaryItem.NSThumbnail1024x1024SizeKey: picture]]
///     }
///
/// A picture is `Data` with a PNG file of at most 8 MiB and 1,024 pixels a side, or a ``ThumbnailBitmap``. The user's side shows it as
/// long as the document stays as it was saved. The broker takes pictures only of documents that the app has made: in its container,
/// and those that its user let it create or move to another place (`THM-4`).
public struct URLThumbnailDictionaryItem: RawRepresentable, Hashable, Sendable {
  /// The key as a text.
  public let rawValue: String
  /// A key by its text.
  public init(rawValue: String) { self.rawValue = rawValue }
  // The name is Apple's.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Of at most 1,024 pixels a side.
  public static let NSThumbnail1024x1024SizeKey = URLThumbnailDictionaryItem(rawValue: "NSThumbnail1024x1024SizeKey")
}

/// The picture among the attributes of a save.
struct DocumentPicture {
  let bytes: Data

  /// `nil`: there is none among them.
  init?(_ attributes: [AnyHashable: Any]?) {
    let key = URLResourceKey.thumbnailDictionaryKey
    let size = URLThumbnailDictionaryItem.NSThumbnail1024x1024SizeKey
    guard let pictures = attributes?[key] ?? attributes?[key.rawValue] else { return nil }
    let picture =
      (pictures as? [URLThumbnailDictionaryItem: Any])?[size] ?? (pictures as? [String: Any])?[size.rawValue]
    switch picture {
    case let data as Data: bytes = data
    case let bitmap as ThumbnailBitmap: bytes = Data(bitmap.encoded)
    default: return nil
    }
  }

  /// Hands the picture over. The document is saved by now: a picture that is refused takes nothing from that.
  func put(of url: URL) {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("Thumbnail-\(UUID().uuidString).png")
    defer { try? FileManager.default.removeItem(at: place) }
    guard (try? bytes.write(to: place)) != nil else { return }
    try? Broker.call(
      ThumbnailsInterface.put, ThumbnailsInterface.PutCall(path: NSFileCoordinator.path(of: url), picture: place.path))
  }
}
