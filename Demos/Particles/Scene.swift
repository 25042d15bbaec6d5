import Foundation

/// The settings of a particle system: the content of a document but its image.
struct Scene: Codable, Equatable {
  /// Particles a second.
  var rate = 40.0
  /// Rows a second, each second.
  var gravity = 12.0
  /// Columns a second.
  var speed = 18.0
  /// Seconds that a particle lives.
  var life = 2.0
  /// 0 to 255.
  var red = 255, green = 170, blue = 40

  static let names = ["rate", "gravity", "speed", "life", "red", "green", "blue"]

  subscript(name: String) -> Double? {
    get {
      switch name {
      case "rate": rate
      case "gravity": gravity
      case "speed": speed
      case "life": life
      case "red": Double(red)
      case "green": Double(green)
      case "blue": Double(blue)
      default: nil
      }
    }
    set {
      guard let value = newValue, value.isFinite else { return }
      let colour = Int(min(255, max(0, value)))
      switch name {
      case "rate": rate = min(400, max(0, value))
      case "gravity": gravity = min(100, max(-100, value))
      case "speed": speed = min(100, max(1, value))
      case "life": life = min(10, max(0.1, value))
      case "red": red = colour
      case "green": green = colour
      case "blue": blue = colour
      default: break
      }
    }
  }
}

/// A picture in the portable pixmap format (PPM, P6 with 255 values a colour): particles take their colours from it.
struct Pixmap {
  let width: Int
  let height: Int
  private let pixels: Data

  init?(_ data: Data) {
    var numbers: [Int] = []
    var index = data.startIndex
    guard data.prefix(2) == Data("P6".utf8) else { return nil }
    index += 2
    while numbers.count < 3, index < data.endIndex {
      if data[index] == UInt8(ascii: "#") {
        while index < data.endIndex, data[index] != 10 { index += 1 }
      } else if let digit = Int(String(UnicodeScalar(data[index]))) {
        var number = digit
        index += 1
        while index < data.endIndex, let next = Int(String(UnicodeScalar(data[index]))), number < 100_000 {
          number = number * 10 + next
          index += 1
        }
        numbers.append(number)
      } else {
        index += 1
      }
    }
    guard numbers.count == 3, numbers[2] == 255, (1...4096).contains(numbers[0]), (1...4096).contains(numbers[1]),
      data.endIndex - index - 1 >= numbers[0] * numbers[1] * 3
    else { return nil }
    (width, height) = (numbers[0], numbers[1])
    pixels = Data(data[(index + 1)...])
  }

  /// The colour at a place from 0 to 1 in both directions.
  func colour(_ x: Double, _ y: Double) -> (Int, Int, Int) {
    let column = min(width - 1, max(0, Int(x * Double(width))))
    let row = min(height - 1, max(0, Int(y * Double(height))))
    let start = (row * width + column) * 3
    return (Int(pixels[start]), Int(pixels[start + 1]), Int(pixels[start + 2]))
  }
}
