internal import Agent
internal import Foundation

/// The agent, with further acts that only Ambit's own tests need: races, floods and damaged messages.
@main
struct Probe {
  static func main() {
    if CommandLine.arguments.count == 4, CommandLine.arguments[1] == "count" {
      exit(Counter.count(CommandLine.arguments[2], coordinated: CommandLine.arguments[3] == "coordinated"))
    }
    if CommandLine.arguments.count > 1 { exit(once(CommandLine.arguments[1])) }
    Agent.run(additions: [act])
  }

  private static func act(_ session: inout Session, _ act: String, _ request: [String: Any]) throws -> [String: Any]? {
    switch act {
    case "fuzz": return try Fuzzer.run(request)
    case "race": return try Race.run(try session.url(request), request)
    case "pickMany": return try session.pickMany(request)
    case "count": return try Counter.run(try session.url(request), request)
    case "startAll":
      return session.startAll(most: request["count"] as? Int ?? .max, stopping: request["stopping"] as? Bool ?? false)
    case "stopAll": return session.stopAll()
    case "pickAll": return try Race.pickAll(request)
    case "leadBack":
      return try LeadBack.run(
        try session.url(request), rounds: request["rounds"] as? Int ?? 1,
        standing: request["standing"] as? Bool ?? false)
    case "hammer":
      let names = session.urls.keys.sorted()
      return try Hammer.run(
        names.compactMap { session.urls[$0] }, threads: 4, rounds: request["rounds"] as? Int ?? 100,
        leaving: request["leaving"] as? Bool ?? false)
    default: return nil
    }
  }

  /// What small tests need: one act, without a conversation.
  private static func once(_ act: String) -> Int32 {
    switch act {
    case "crash":
      kill(getpid(), SIGSEGV)
      return 1
    case "spin":
      // Starts and stops without end, for launchers and brokers that are killed meanwhile.
      var session = Session()
      Agent.print(session.answer(to: #"{"do": "pick", "as": "a"}"#))
      while true {
        _ = session.answer(to: #"{"do": "start", "of": "a"}"#)
        _ = session.answer(to: #"{"do": "stop", "of": "a"}"#)
      }
    default: return 64
    }
  }
}
