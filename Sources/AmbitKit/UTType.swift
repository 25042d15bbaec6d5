internal import Paths

/// The type of a document, as far as the picker needs it: which file name extensions it has. Apple's names; this version
/// knows the types below, and any extension by `init(filenameExtension:)`.
public struct UTType: Hashable, Sendable {
  /// For example `public.plain-text`.
  public let identifier: String
  /// Without dot. Empty: any file. Nil: a type that this version does not know.
  let extensions: [String]?

  init(_ identifier: String, _ extensions: [String]?) {
    self.identifier = identifier
    self.extensions = extensions
  }

  /// A type that this version knows; nil for any other.
  public init?(_ identifier: String) {
    self.init(importedAs: identifier)
    if extensions == nil { return nil }
  }

  /// A type that need not be known; a picker that is presented with it says so.
  public init(importedAs identifier: String) {
    self = Self.known.first { $0.identifier == identifier } ?? UTType(identifier, nil)
  }

  /// The extension that files of this type have; nil for a type of any file, and for one that this version does not know.
  public var preferredFilenameExtension: String? { extensions?.first }

  /// The type of files with that extension; nil for a text that is no extension.
  public init?(filenameExtension: String) {
    guard !filenameExtension.isEmpty, !filenameExtension.hasSlash, !filenameExtension.hasPrefix(".") else {
      return nil
    }
    let type = Self.known.first { $0.extensions?.contains(filenameExtension.lowercased()) == true }
    self = UTType(type?.identifier ?? "dyn.\(filenameExtension)", [filenameExtension])
  }

  /// Any file.
  public static let item = UTType("public.item", [])
  /// Any file.
  public static let content = UTType("public.content", [])
  /// Any file.
  public static let data = UTType("public.data", [])
  /// A folder.
  public static let folder = UTType("public.folder", [])
  /// Any kind of text, with or without markup.
  public static let text = UTType(
    "public.text", ["txt", "text", "md", "markdown", "html", "htm", "xml", "json", "csv", "rtf"])
  /// Text without markup that a machine would need.
  public static let plainText = UTType("public.plain-text", ["txt", "text", "md", "markdown", "csv"])
  /// JSON.
  public static let json = UTType("public.json", ["json"])
  /// PDF.
  public static let pdf = UTType("com.adobe.pdf", ["pdf"])
  /// Formatted text with pictures: a package, a folder that is one document.
  public static let rtfd = UTType("com.apple.rtfd", ["rtfd"])
  /// Any kind of image.
  public static let image = UTType("public.image", ["png", "jpg", "jpeg", "gif", "tif", "tiff", "webp", "heic"])
  /// PNG.
  public static let png = UTType("public.png", ["png"])
  /// JPEG.
  public static let jpeg = UTType("public.jpeg", ["jpg", "jpeg"])

  /// The narrow ones first: the first that has an extension names it.
  private static let known: [UTType] = [
    json, pdf, png, jpeg, rtfd, plainText, text, image, item, content, data, folder,
  ]
}
