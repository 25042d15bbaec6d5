public import Foundation
internal import Thumbnails

#if canImport(Glibc)
  internal import Glibc
#endif

/// A request for a thumbnail of one document.
public final class QLFileThumbnailRequest: Sendable {
  /// The document. It can be read, and nothing else can.
  public let fileURL: URL
  /// In points.
  public let maximumSize: CGSize
  /// In points; smaller pictures are not wanted.
  public let minimumSize: CGSize
  /// Pixels of a point.
  public let scale: CGFloat

  init(fileURL: URL, maximumSize: CGSize, minimumSize: CGSize = .zero, scale: CGFloat = 1) {
    (self.fileURL, self.maximumSize, self.minimumSize, self.scale) = (fileURL, maximumSize, minimumSize, scale)
  }
}

/// A picture that an extension draws in: red, green, blue and opacity of each pixel. Ambit's stand-in for a graphics context.
public struct ThumbnailBitmap: Sendable {
  /// In pixels.
  public let width: Int
  /// In pixels.
  public let height: Int
  private(set) var pixels: [UInt8]

  /// A picture that one can see through: at least one pixel and at most 1,024 a side.
  public init(width: Int, height: Int) {
    let (width, height) = (min(max(width, 1), 1024), min(max(height, 1), 1024))
    (self.width, self.height) = (width, height)
    pixels = Array(repeating: 0, count: width * height * 4)
  }

  /// A PNG file of it.
  var encoded: [UInt8] { PNG(width: width, height: height, pixels: pixels).encoded }

  /// Fills a rectangle, as far as it lies in the picture. Each part of the colour is 0 to 255.
  public mutating func fill(
    x: Int, y: Int, width: Int, height: Int, red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255
  ) {
    let rows = max(0, y)..<max(max(0, y), min(self.height, y + height))
    let columns = max(0, x)..<max(max(0, x), min(self.width, x + width))
    for row in rows {
      for column in columns {
        let start = (row * self.width + column) * 4
        (pixels[start], pixels[start + 1], pixels[start + 2], pixels[start + 3]) = (red, green, blue, alpha)
      }
    }
  }
}

/// An extension's answer: a picture, or a way to draw one (`THM-3`).
public final class QLThumbnailReply {
  private enum Content {
    case file(URL)
    case drawing(CGSize, (inout ThumbnailBitmap) -> Bool)
  }
  private let content: Content
  /// A short text for the picture's corner. Kept for code that sets it.
  public var extensionBadge = ""

  /// A picture in a file, of the form PNG.
  public init(imageFileURL url: URL) { content = .file(url) }

  /// Draws a picture of this size, in points; the block answers false where there is to be none.
  public init(contextSize size: CGSize, drawing: @escaping (inout ThumbnailBitmap) -> Bool) {
    content = .drawing(size, drawing)
  }

  /// The file of the picture; `nil`: there is none.
  func encoded(scale: CGFloat) -> [UInt8]? {
    switch content {
    case .file(let url): return (try? Data(contentsOf: url)).map { Array($0) }
    case .drawing(let size, let drawing):
      let (width, height) = (Int(size.width * scale), Int(size.height * scale))
      guard width > 0, height > 0, width <= 1024, height <= 1024 else { return nil }
      var bitmap = ThumbnailBitmap(width: width, height: height)
      guard drawing(&bitmap) else { return nil }
      return bitmap.encoded
    }
  }
}

/// Draws thumbnails of an app's own document types, in a sandbox of its own: no network, one document, little time. An extension is a
/// bundle in the app's `PlugIns` whose program is this:
///
///     @main final class Thumbnails: QLThumbnailProvider {
///       override func provideThumbnail(
///         for request: QLFileThumbnailRequest, _ handler: @escaping (QLThumbnailReply?, (any Error)?) -> Void
///       ) { … }
///     }
open class QLThumbnailProvider {
  /// Made once for each request.
  public required init() {}

  /// Draws a document. Without a reply, or with an error, there is no thumbnail (`THM-3`).
  open func provideThumbnail(
    for request: QLFileThumbnailRequest, _ handler: @escaping (QLThumbnailReply?, (any Error)?) -> Void
  ) { handler(nil, nil) }

  /// The program of an extension: reads the request from its arguments, has it drawn, and ends. The end of the program is the end of
  /// its sandbox, so nothing goes on behind it (`THM-6`).
  public static func main() -> Never {
    let arguments = CommandLine.arguments
    func value(_ name: String) -> String? {
      arguments.firstIndex(of: name).flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
    }
    guard let document = value("--document"), let output = value("--output"),
      let pixels = value("--size").flatMap(Int.init)
    else {
      complain("it is run by “ambit thumbnail”, with --document, --size and --output")
    }
    let request = QLFileThumbnailRequest(
      fileURL: URL(fileURLWithPath: document), maximumSize: CGSize(width: pixels, height: pixels))
    let provider = Self()
    // The document is started for the sandbox.
    provider.provideThumbnail(for: request) { reply, error in
      if let error { complain("\(error.localizedDescription)") }
      guard let bytes = reply?.encoded(scale: request.scale) else { complain("there is no thumbnail") }
      do { try Data(bytes).write(to: URL(fileURLWithPath: output)) } catch { complain("\(error.localizedDescription)") }
      exit(0)
    }
    // The handler may be called later, on any queue.
    RunLoop.main.run()
    complain("it gave no answer")
  }

  private static func complain(_ sentence: String) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
    exit(1)
  }
}
