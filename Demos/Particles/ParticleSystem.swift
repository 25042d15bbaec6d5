/// Particles that fly, as numbers: the same scene and the same seed give the same picture.
struct ParticleSystem {
  struct Particle {
    var x: Double
    var y: Double
    var dx: Double
    var dy: Double
    var age = 0.0
  }

  private(set) var particles: [Particle] = []
  private var owed = 0.0
  private var state: UInt64

  init(seed: UInt64 = 1) { state = seed | 1 }

  /// From 0 to 1 (xorshift).
  private mutating func random() -> Double {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Double(state >> 11) / Double(1 << 53)
  }

  /// - Parameters:
  ///   - seconds: since the last step.
  ///   - width, height: of the picture, in columns and half rows.
  mutating func step(_ scene: Scene, seconds: Double, width: Int, height: Int) {
    for index in particles.indices {
      particles[index].x += particles[index].dx * seconds
      particles[index].y += particles[index].dy * seconds
      particles[index].dy += scene.gravity * seconds
      particles[index].age += seconds
    }
    particles.removeAll { $0.age > scene.life || $0.y > Double(height) }
    owed = min(owed + scene.rate * seconds, 400)
    while owed >= 1, particles.count < 4000 {
      owed -= 1
      let spread = random() - 0.5
      particles.append(
        Particle(
          x: Double(width) / 2, y: Double(height) * 0.6, dx: spread * scene.speed,
          dy: -scene.speed * (0.5 + random() * 0.5)))
    }
  }

  /// One frame: a cell of the terminal has two pixels, one above the other.
  func frame(_ scene: Scene, image: Pixmap?, width: Int, rows: Int, colours: Bool) -> [String] {
    var pixels = [(Int, Int, Int)?](repeating: nil, count: width * rows * 2)
    for particle in particles {
      let (x, y) = (Int(particle.x), Int(particle.y))
      guard (0..<width).contains(x), (0..<rows * 2).contains(y) else { continue }
      let fade = max(0.2, 1 - particle.age / scene.life)
      let (red, green, blue) =
        image?.colour(Double(x) / Double(width), Double(y) / Double(rows * 2)) ?? (scene.red, scene.green, scene.blue)
      pixels[y * width + x] = (Int(Double(red) * fade), Int(Double(green) * fade), Int(Double(blue) * fade))
    }
    return (0..<rows).map { row in
      var line = ""
      for column in 0..<width {
        let (upper, lower) = (pixels[row * 2 * width + column], pixels[(row * 2 + 1) * width + column])
        switch (upper, lower) {
        case (nil, nil): line += " "
        case (let colour?, nil): line += Self.cell("▀", colour, nil, colours)
        case (nil, let colour?): line += Self.cell("▄", colour, nil, colours)
        case (let colour?, let below?): line += Self.cell("▀", colour, below, colours)
        }
      }
      return line
    }
  }

  private static func cell(
    _ character: String, _ colour: (Int, Int, Int), _ below: (Int, Int, Int)?, _ colours: Bool
  ) -> String {
    guard colours else { return below == nil ? character : "█" }
    let back = below.map { ";48;2;\($0.0);\($0.1);\($0.2)" } ?? ""
    return "\u{1B}[38;2;\(colour.0);\(colour.1);\(colour.2)\(back)m\(character)\u{1B}[0m"
  }
}
