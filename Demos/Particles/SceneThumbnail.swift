import AmbitKit
import Foundation

/// Draws a scene as it is after two seconds.
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
    let reply = QLThumbnailReply(contextSize: size) { picture in
      picture.fill(x: 0, y: 0, width: picture.width, height: picture.height, red: 16, green: 16, blue: 32)
      var system = ParticleSystem()
      let (columns, rows) = (80, 48)
      for _ in 0..<60 { system.step(scene, seconds: 1 / 30, width: columns, height: rows) }
      let dot = max(2, picture.width / 64)
      for particle in system.particles {
        let left = 1 - min(1, particle.age / scene.life)
        func part(_ colour: Int) -> UInt8 { UInt8(Double(colour) * max(0.3, left)) }
        picture.fill(
          x: Int(particle.x / Double(columns) * Double(picture.width)),
          y: Int(particle.y / Double(rows) * Double(picture.height)),
          width: dot, height: dot, red: part(scene.red), green: part(scene.green), blue: part(scene.blue))
      }
      return true
    }
    handler(reply, nil)
  }
}
