internal import Foundation
internal import Scenario
internal import Wire

/// Plays a suite under one system with several workers at once.
package struct Crew {
  package struct Member: Sendable {
    package var user: String
    /// The worker's command.
    package var command: [String]
    package var environment: [String: String]

    package init(user: String, command: [String], environment: [String: String]) {
      (self.user, self.command, self.environment) = (user, command, environment)
    }
  }

  package var members: [Member]
  /// Processes for each member.
  package var width: Int
  /// Told of each outcome, and how many there will be.
  package var progress: (ScenarioOutcome, Int) -> Void

  package init(members: [Member], width: Int, progress: @escaping (ScenarioOutcome, Int) -> Void) {
    (self.members, self.width, self.progress) = (members, width, progress)
  }

  /// Seconds for one scenario: a worker that takes longer is ended, and the scenario has an error.
  private static let patience = 120.0

  private final class Hand {
    let child: Child
    let user: String
    var isReady = false
    var item: Suite.Item?
    var began = ContinuousClock.now

    init(_ child: Child, user: String) { (self.child, self.user) = (child, user) }
  }

  /// - Returns: the outcomes in the suite's order, the system's version, and the reason if the system is not here.
  /// - Throws: ``Interrupted``.
  package func play(_ items: [Suite.Item]) throws -> (outcomes: [ScenarioOutcome], version: String, absent: String?) {
    var waiting: [String: [Suite.Item]] = [:]
    var hands: [Hand] = []
    var outcomes: [ScenarioOutcome] = []
    for member in members {
      let here = items.filter { $0.scenario.users.isEmpty || $0.scenario.users.map(\.rawValue).contains(member.user) }
      waiting[member.user] = here.reversed()
    }
    var total: Int { outcomes.count + waiting.values.reduce(0) { $0 + $1.count } + hands.count { $0.item != nil } }
    // By user: why the system cannot be run as this one.
    var absences: [String: String] = [:]
    defer { Self.end(hands.map(\.child)) }
    var version = ""
    for _ in 0..<width {
      for member in members { hands.append(try hire(member)) }
    }
    func finished(_ outcome: ScenarioOutcome) {
      outcomes.append(outcome)
      progress(outcome, total)
    }
    func giveWork(_ hand: Hand) {
      guard hand.isReady, hand.item == nil, let item = waiting[hand.user]?.popLast() else { return }
      hand.item = item
      hand.began = .now
      _ = hand.child.send(ArraySlice(Array((item.scenario.file + "\n").utf8)))
    }
    let pause = Waiting { _, _ in }
    while outcomes.count < total, absences.count < members.count {
      _ = try pause.wait(for: "a scenario", limit: 0.25, children: hands.map(\.child)) { () -> Bool? in
        hands.contains { $0.child.hasLine || $0.child.ending != nil } ? true : nil
      }
      for (index, hand) in hands.enumerated() {
        while let line = hand.child.takeLine() {
          guard let answer = JSONValue(line: line) else { continue }
          if let reason = answer[path: "absent"]?.plainText {
            absences[hand.user] = reason
            waiting[hand.user] = []
          }
          if let text = answer[path: "ready"]?.plainText { (version, hand.isReady) = (text, true) }
          if let outcome = ScenarioOutcome(answer) {
            hand.item = nil
            finished(outcome)
          }
        }
        let isLate = hand.item != nil && hand.began.duration(to: .now) / .seconds(1) > Self.patience
        if absences[hand.user] != nil { continue }
        if hand.child.ending != nil || isLate {
          let reason =
            isLate ? "no result within \(Int(Self.patience)) s" : "the worker ended: \(hand.child.errors.text)"
          if let item = hand.item {
            finished(ScenarioOutcome(fault: item, user: hand.user, reason))
          } else if !hand.isReady {
            return (outcomes, version, reason)
          }
          Self.end([hand.child])
          if outcomes.count < total, let member = members.first(where: { $0.user == hand.user }) {
            hands[index] = try hire(member)
          }
        }
        giveWork(hand)
      }
    }
    let places = Dictionary(uniqueKeysWithValues: items.enumerated().map { ($1.name, $0) })
    outcomes.sort { (places[$0.name] ?? 0, $0.user) < (places[$1.name] ?? 0, $1.user) }
    let reasons = absences.sorted { $0.key < $1.key }.map { members.count > 1 ? "as \($0.key): \($0.value)" : $0.value }
    return (outcomes, version, absences.count == members.count ? reasons.joined(separator: "; ") : nil)
  }

  private func hire(_ member: Member) throws -> Hand {
    let child = try Child(
      name: "a worker", executable: member.command[0], arguments: Array(member.command.dropFirst()),
      environment: member.environment, directory: "/")
    return Hand(child, user: member.user)
  }

  /// Ends workers: each cleans up after itself.
  private static func end(_ children: [Child]) {
    let waiting = Waiting { _, _ in }
    for child in children { child.closeInput() }
    for signal in [0, 15, 9] as [Int32] {
      if signal > 0 { for child in children { child.signal(signal) } }
      let ended = try? waiting.wait(
        for: "workers to end", limit: signal == 15 ? 20 : 3, children: children, isInterruptible: false
      ) { children.allSatisfy { $0.ending != nil } ? true : nil }
      if ended != nil { return }
    }
  }
}
