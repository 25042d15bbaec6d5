import AmbitKit
import Foundation

/// A particle scene in a package: `scene.json`, and the image that was imported. The class has nothing of scopes and coordination in it:
/// `Document` does that.
final class ParticlesDocument: Document {
  private(set) var scene = Scene()
  private(set) var image: Pixmap?
  /// The package as it was read or written last: files that are not changed are not written again.
  private var package = FileWrapper(directoryWithFileWrappers: [:])

  private static let sceneFile = "scene.json"
  private static let imageFile = "image.ppm"

  override func contents(forType typeName: String) throws -> Any {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    replace(Self.sceneFile, with: try encoder.encode(scene))
    return package
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let wrapper = contents as? FileWrapper, let files = wrapper.fileWrappers,
      let data = files[Self.sceneFile]?.regularFileContents
    else { throw CocoaError(.fileReadCorruptFile) }
    scene = try JSONDecoder().decode(Scene.self, from: data)
    image = files[Self.imageFile]?.regularFileContents.flatMap(Pixmap.init)
    package = wrapper
  }

  /// The picture that is written with the scene: `ambit thumbnail` shows it, and no extension has to run.
  override func fileAttributesToWrite(to url: URL, for saveOperation: SaveOperation) throws -> [AnyHashable: Any] {
    var picture = ThumbnailBitmap(width: 512, height: 512)
    scene.draw(in: &picture)
    return [URLResourceKey.thumbnailDictionaryKey: [URLThumbnailDictionaryItem.NSThumbnail1024x1024SizeKey: picture]]
  }

  private func replace(_ name: String, with data: Data?) {
    if let former = package.fileWrappers?[name] { package.removeFileWrapper(former) }
    if let data { package.addRegularFile(withContents: data, preferredFilename: name) }
  }

  // MARK: Changes

  func set(_ name: String, to value: Double) {
    guard let former = scene[name] else { return }
    scene[name] = value
    undoManager.registerUndo(withTarget: self) { $0.set(name, to: former) }
    undoManager.setActionName("Change of \(name)")
  }

  /// - Throws: for a file that is no pixmap.
  func importImage(from url: URL) throws {
    let started = url.startAccessingSecurityScopedResource()
    defer { if started { url.stopAccessingSecurityScopedResource() } }
    let data = try Data(contentsOf: URL(fileURLWithPath: url.path))
    guard Pixmap(data) != nil else {
      throw CocoaError(.fileReadCorruptFile, userInfo: [NSLocalizedDescriptionKey: "This is no portable pixmap (P6)."])
    }
    setImage(data)
  }

  private func setImage(_ data: Data?) {
    let former = package.fileWrappers?[Self.imageFile]?.regularFileContents
    replace(Self.imageFile, with: data)
    image = data.flatMap(Pixmap.init)
    undoManager.registerUndo(withTarget: self) { $0.setImage(former) }
    undoManager.setActionName("Image")
  }
}
