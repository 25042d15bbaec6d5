import AmbitKit
import Foundation

/// Draws the scenes that other programs have written; a saved one has its picture already.
final class SceneThumbnail: QLThumbnailProvider {
  override func provideThumbnail(
    for request: QLFileThumbnailRequest, _ handler: @escaping (QLThumbnailReply?, (any Error)?) -> Void
  ) {
    let scene: Scene
    do {
      let data = try Data(contentsOf: request.fileURL.appendingPathComponent("scene.json"))
      scene = try JSONDecoder().decode(Scene.self, from: data)
    } catch { return handler(nil, error) }
    let size = request.maximumSize
    handler(
      QLThumbnailReply(contextSize: size) { picture in
        scene.draw(in: &picture)
        return true
      }, nil)
  }
}

extension Scene {
  /// Draws the scene as it is after two seconds.
  func draw(in picture: inout ThumbnailBitmap) {
    picture.fill(x: 0, y: 0, width: picture.width, height: picture.height, red: 16, green: 16, blue: 32)
    var system = ParticleSystem()
    let (columns, rows) = (80, 48)
    for _ in 0..<60 { system.step(self, seconds: 1 / 30, width: columns, height: rows) }
    let dot = max(2, picture.width / 64)
    for particle in system.particles {
      let left = 1 - min(1, particle.age / life)
      func part(_ colour: Int) -> UInt8 { UInt8(Double(colour) * max(0.3, left)) }
      picture.fill(
        x: Int(particle.x / Double(columns) * Double(picture.width)),
        y: Int(particle.y / Double(rows) * Double(picture.height)),
        width: dot, height: dot, red: part(red), green: part(green), blue: part(blue))
    }
  }
}
