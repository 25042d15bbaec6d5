internal import ContentTypes
public import Foundation
internal import Paths

/// The kind of a tag: a file name extension, or a MIME type. Apple's names.
public struct UTTagClass: RawRepresentable, Hashable, Sendable {
  /// Apple's name for the class.
  public let rawValue: String

  /// A class by Apple's name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Extensions, without their dot.
  public static let filenameExtension = UTTagClass(rawValue: "public.filename-extension")
  /// For example `image/png`.
  public static let mimeType = UTTagClass(rawValue: "public.mime-type")
}

/// A uniform type: of a document, of a folder, of data. Apple's names and members.
///
/// The types are the system's, those of shared-mime-info on this machine, and those that the running app's bundle declares. Anything else
/// is a dynamic type, which says by itself what it is (`TYP-3`).
public struct UTType: Hashable, Sendable, Codable, CustomStringConvertible {
  /// For example `public.plain-text`.
  public let identifier: String

  // MARK: Finding types

  /// A type that is declared, or a dynamic one; `nil` for any other.
  public init?(_ identifier: String) {
    guard let known = AppTypes.tree[identifier] else { return nil }
    self.identifier = known.identifier
  }

  private init(known identifier: String) { self.identifier = identifier }
  /// One of the system's: nothing has to be read for it.
  init(constant identifier: String) { self.identifier = identifier }

  /// The type of files with an extension; a dynamic one if no type has it. `nil` for a text that is no extension.
  ///
  /// - Parameter supertype: the type that it has to conform to; data by default, so that no package comes out.
  public init?(filenameExtension: String, conformingTo supertype: UTType = .data) {
    guard AppTypes.isTag(filenameExtension, .filenameExtension) else { return nil }
    self.init(known: AppTypes.decider.type(ofExtension: filenameExtension, in: supertype.identifier))
  }

  /// The type of data with a MIME type.
  public init?(mimeType: String, conformingTo supertype: UTType = .data) {
    self.init(tag: mimeType, tagClass: .mimeType, conformingTo: supertype)
  }

  /// The type with a tag. Without a supertype only a declared one.
  public init?(tag: String, tagClass: UTTagClass, conformingTo supertype: UTType?) {
    guard let kind = TypeDeclaration.TagClass(rawValue: tagClass.rawValue), AppTypes.isTag(tag, kind) else {
      return nil
    }
    if let found = AppTypes.tree.types(kind, tag, in: supertype?.identifier).first {
      self.init(known: found)
    } else if let supertype {
      self.init(known: AppTypes.tree.type(kind, tag, in: supertype.identifier).identifier)
    } else {
      return nil
    }
  }

  /// All declared types with a tag, the preferred one first.
  public static func types(tag: String, tagClass: UTTagClass, conformingTo supertype: UTType?) -> [UTType] {
    guard let kind = TypeDeclaration.TagClass(rawValue: tagClass.rawValue) else { return [] }
    return AppTypes.tree.types(kind, tag, in: supertype?.identifier).map(UTType.init(known:))
  }

  /// A type that the app's bundle exports, under `UTExportedTypeDeclarations`. It need not be known.
  public init(exportedAs identifier: String, conformingTo parentType: UTType? = nil) {
    self.init(known: AppTypes.tree[identifier]?.identifier ?? identifier)
  }

  /// A type of another app that this one knows. It need not be known.
  public init(importedAs identifier: String, conformingTo parentType: UTType? = nil) {
    self.init(known: AppTypes.tree[identifier]?.identifier ?? identifier)
  }

  // MARK: Facts

  private var declaration: TypeDeclaration? { AppTypes.tree[identifier] }

  /// The extension that new files of the type get, without dot; of the type itself.
  public var preferredFilenameExtension: String? { declaration?.extensions.first }
  /// The MIME type of the type itself.
  public var preferredMIMEType: String? { declaration?.mimeTypes.first }
  /// Its name for people. In English: Ambit has no other language.
  public var localizedDescription: String? {
    declaration.flatMap { $0.description ?? $0.mimeTypes.first.flatMap(AppTypes.comment) }
  }
  /// The identifier.
  public var description: String { identifier }
  /// Types have no versions here.
  public var version: Int? { nil }
  /// A page about the type, as its declaration names it.
  public var referenceURL: URL? { declaration?.referenceURL.flatMap(URL.init(string:)) }

  /// Whether it stands for a tag that no declaration has.
  public var isDynamic: Bool { identifier.hasPrefix("dyn.") }
  /// Whether the system, the machine's database or the app's bundle declares it.
  public var isDeclared: Bool { !isDynamic && declaration != nil }
  /// Whether it is one of the public domain's, which belong to nobody.
  public var isPublic: Bool { identifier.hasPrefix("public.") }

  /// All its extensions and MIME types.
  public var tags: [UTTagClass: [String]] {
    guard let declaration else { return [:] }
    var tags: [UTTagClass: [String]] = [:]
    for kind in TypeDeclaration.TagClass.allCases where !declaration.tags(kind).isEmpty {
      tags[UTTagClass(rawValue: kind.rawValue)] = declaration.tags(kind)
    }
    return tags
  }

  // MARK: Conformance

  /// All types that it conforms to, without itself.
  public var supertypes: Set<UTType> {
    Set(AppTypes.tree.ancestors(of: identifier).dropFirst().map(UTType.init(known:)))
  }

  /// Whether it is another type or conforms to it.
  public func conforms(to type: UTType) -> Bool { AppTypes.tree.conforms(identifier, to: type.identifier) }
  /// Whether it conforms to another type and is not that type.
  public func isSubtype(of type: UTType) -> Bool { self != type && conforms(to: type) }
  /// Whether another type conforms to it and is not this type.
  public func isSupertype(of type: UTType) -> Bool { type.isSubtype(of: self) }

  /// Every extension of the type and of all that conform to it. `nil`: files of any name can be of it.
  var pickedExtensions: [String]? {
    ["public.item", "public.data", "public.content"].contains(identifier)
      ? nil : AppTypes.tree.extensions(of: identifier)
  }

  // MARK: Codable

  /// From its identifier.
  public init(from decoder: any Decoder) throws { identifier = try decoder.singleValueContainer().decode(String.self) }

  /// As its identifier.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(identifier)
  }
}

/// The types that the running app sees.
enum AppTypes {
  static let decider = TypeDecider.system.adding(declared)
  static var tree: TypeTree { decider.tree }

  static func comment(_ mimeType: String) -> String? { decider.comment(ofMimeType: mimeType) }

  static func isTag(_ tag: String, _ tagClass: TypeDeclaration.TagClass) -> Bool {
    switch tagClass {
    case .filenameExtension: !tag.isEmpty && !tag.hasSlash && !tag.hasPrefix(".") && tag.utf8.count <= 64
    case .mimeType:
      tag.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).count == 2 && tag.utf8.count <= 127
    }
  }

  /// The declarations of the bundle that the program lies in. A program of no bundle looks for none: a refused look would be in the log.
  static let declared: [TypeDeclaration] = {
    let program = (CommandLine.arguments.first.map { URL(fileURLWithPath: $0) } ?? URL(fileURLWithPath: "/"))
      .standardizedFileURL.path
    guard let end = program.range(of: ".app/", options: .backwards) else { return [] }
    let bundle = URL(fileURLWithPath: String(program[..<end.upperBound]))
    for place in [bundle, bundle.appendingPathComponent("Contents")] {
      guard let data = try? Data(contentsOf: place.appendingPathComponent("Info.plist")),
        let list = unsafe try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
      else { continue }
      let app = list["CFBundleIdentifier"] as? String ?? ""
      return declarations(list["UTExportedTypeDeclarations"], .exported(by: app))
        + declarations(list["UTImportedTypeDeclarations"], .imported(by: app))
    }
    return []
  }()

  private static func declarations(_ value: Any?, _ origin: TypeDeclaration.Origin) -> [TypeDeclaration] {
    (value as? [[String: Any]] ?? []).compactMap { entry in
      guard let identifier = entry["UTTypeIdentifier"] as? String else { return nil }
      let tags = entry["UTTypeTagSpecification"] as? [String: Any] ?? [:]
      func texts(_ value: Any?) -> [String] { value as? [String] ?? (value as? String).map { [$0] } ?? [] }
      return TypeDeclaration.ofApp(
        identifier: identifier, conformsTo: texts(entry["UTTypeConformsTo"]),
        extensions: texts(tags["public.filename-extension"]), mimeTypes: texts(tags["public.mime-type"]),
        description: entry["UTTypeDescription"] as? String, origin: origin,
        referenceURL: entry["UTTypeReferenceURL"] as? String)
    }
  }
}
