internal import Agent
internal import Foundation

/// Sends damaged and random messages to the instance's socket. The same seed sends the same messages.
enum Fuzzer {
  /// `{"do": "fuzz", "count": n, "seed": s}`.
  static func run(_ request: [String: Any]) throws -> [String: Any] {
    guard let count = request["count"] as? Int, let seed = request["seed"] as? Int else {
      throw Session.Usage(sentence: "“count” or “seed” is missing")
    }
    var generator = SplitMix(state: UInt64(seed))
    var broker = try RawBroker()
    var (answered, hungUp, refusedConnections) = (0, 0, 0)
    for _ in 0..<count {
      // One at a time: behind a message that ends the connection, the next would never be read.
      let message = message(&generator)
      switch broker.send(message) ? broker.hear(patience: message.isOneway ? 0 : 20) : .hungUp {
      case .answer:
        answered += 1
        continue
      case .silence: continue
      case .hungUp: hungUp += 1
      }
      broker.end()
      // A broker that lives always takes the next connection, at the latest once it has seen the last one close.
      while true {
        do {
          broker = try RawBroker()
          break
        } catch {
          refusedConnections += 1
          if refusedConnections > 10_000 { throw error }
          usleep(1000)
        }
      }
    }
    broker.end()
    return ["sent": count, "answered": answered, "hungUp": hungUp]
  }

  /// Whole messages that the mutations start from: every method, so that damage reaches every decoder.
  private static let seeds: [String] = [
    #"{"method":"org.varlink.service.GetInfo"}"#,
    #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.ambit.Access"}}"#,
    #"{"method":"io.ambit.Access.Start","parameters":{"scope":"abcdefghij.AAAAAAAAAAAAAAAAAAAAAA","caller":"a:1"}}"#,
    #"{"method":"io.ambit.Access.Stop","parameters":{"scope":"abcdefghij.AAAAAAAAAAAAAAAAAAAAAA"}}"#,
    #"{"method":"io.ambit.Access.Path","parameters":{"scope":"x"},"oneway":true}"#,
    #"{"method":"io.ambit.Access.Status","parameters":{},"more":true}"#,
    #"{"method":"io.ambit.Bookmarks.Create","parameters":{"scope":"x","readOnly":true}}"#,
    #"{"method":"io.ambit.Bookmarks.Create","parameters":{"scope":"x","kind":"document","relativeTo":"y","values":["z"]}}"#,
    #"{"method":"io.ambit.Bookmarks.CreateContained","parameters":{"path":"../../x","values":["NSURLNameKey"]}}"#,
    #"{"method":"io.ambit.Bookmarks.Values","parameters":{"bookmark":"AAAAAAAAAAAAAAAA"}}"#,
    #"{"method":"io.ambit.Bookmarks.Resolve","parameters":{"bookmark":"AAAAAAAAAAAAAAAA"}}"#,
    #"{"method":"io.ambit.Bookmarks.ResolveReference","parameters":{"reference":"AAAAAAAAAAAA"}}"#,
    #"{"method":"io.ambit.Picker.Pick","parameters":{"mode":"import","types":["txt"],"message":"m"}}"#,
    #"{"method":"io.ambit.Launcher.Shutdown","parameters":{}}"#,
    #"{"method":"io.ambit.Launcher.Instances"}"#,
  ]

  private static let pieces: [String] = [
    "{", "}", "[", "]", "\"", ":", ",", "null", "true", "-", "1e999", "18446744073709551616", "\\u0000", "\\ud800",
    "\u{1F4C4}", "/../", "\u{0}", "\n", "{\"method\":", "\"parameters\":", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
  ]

  private static func message(_ generator: inout SplitMix) -> [UInt8] {
    switch generator.next() % 16 {
    case 0: return (0..<generator.below(300)).map { _ in UInt8(truncatingIfNeeded: generator.next()) } + [0]
    case 1:
      return Array(String(repeating: pieces[generator.below(pieces.count)], count: generator.below(400)).utf8) + [0]
    // Larger than any message may be, once in a while.
    case 2 where generator.below(64) == 0: return [UInt8](repeating: 0x20, count: 80_000) + [0]
    case 3: return Array(seeds[generator.below(seeds.count)].utf8) + [0]
    default: break
    }
    var bytes = Array(seeds[generator.below(seeds.count)].utf8)
    for _ in 0...generator.below(4) {
      guard !bytes.isEmpty else { break }
      let place = generator.below(bytes.count)
      switch generator.below(5) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(contentsOf: Array(pieces[generator.below(pieces.count)].utf8), at: place)
      case 3: bytes.removeSubrange(place...)
      default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
      }
    }
    return bytes + [0]
  }
}

extension [UInt8] {
  /// Whether it may be a call that wants no answer.
  fileprivate var isOneway: Bool { String(decoding: self, as: UTF8.self).contains("oneway") }
}

/// A small generator whose sequence depends on its seed alone.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { bound <= 0 ? 0 : Int(next() % UInt64(bound)) }
}
