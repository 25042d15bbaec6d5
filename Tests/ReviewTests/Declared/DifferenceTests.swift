import AppModel
import Policy
import Review
import Sandbox
import TestSupport
import Testing

@Suite struct `What changes for an app` {
  /// What a random explanation may be asked about: names and paths of which some are covered by several entries.
  private static let probes: [Ability] =
    ["/opt", "/opt/fonts", "/opt/fonts/serif", "/opt/x", "/srv/data", "/home/ann/Shared/a/b", "/usr/share"]
    .map { Ability(.readPath, $0) }
    + ["LANG", "LC_ALL", "LC_CTYPE", "LC_CX", "LC_X", "TZ", "EDITOR"].map { Ability(.seeVariable, $0) }
    + ["gz", "tar.gz", "txt", "png", "x.png", "pdf"].map { Ability(.pickTypes, $0) }

  /// What the change says of an ability; `nil`: nothing.
  private static func kind(_ difference: Difference, _ ability: Ability) -> Difference.Kind? {
    difference.changes.first { change in
      change.ability.covers(ability)
        && !change.except.contains { Ability(ability.verb, $0).covers(ability) }
    }?.kind
  }

  @Test func `Nothing changes from an explanation to itself`() {
    var random = Seeded(seed: 11)
    for _ in 0..<60 {
      let explanation = Explanation(RandomSettings.any(&random), app: RandomSettings.app(&random))
      #expect(Difference(from: explanation, to: explanation).isEmpty)
    }
  }

  @Test func `The way back is the mirror of the way there`() {
    var random = Seeded(seed: 12)
    func key(_ change: Difference.Change, _ kind: Difference.Kind) -> String {
      "\(kind) \(change.ability) \(change.except.sorted())"
    }
    for round in 0..<60 {
      let before = Explanation(RandomSettings.any(&random), app: RandomSettings.app(&random))
      let after = Explanation(RandomSettings.any(&random), app: RandomSettings.app(&random))
      let there = Difference(from: before, to: after).changes.map { key($0, $0.kind) }
      let back = Difference(from: after, to: before).changes.map { key($0, $0.kind.mirrored) }
      #expect(there.sorted() == back.sorted(), "\(round)")
      for change in Difference(from: before, to: after).changes {
        switch change.kind {
        case .possible: #expect(change.before == .no && change.after != .no)
        case .impossible: #expect(change.before != .no && change.after == .no)
        case .more: #expect(change.before < change.after)
        case .less: #expect(change.before > change.after)
        case .otherwise: #expect(change.before == change.after)
        }
      }
    }
  }

  @Test func `What is said to change is what changes, name by name`() {
    var random = Seeded(seed: 13)
    for round in 0..<100 {
      let first = RandomSettings.any(&random)
      let second = RandomSettings.any(&random)
      let (before, after) = (Explanation(first), Explanation(second))
      let difference = Difference(from: before, to: after)
      for ability in Self.probes {
        let was = before.extent(of: ability).isPossible
        let becomes = after.extent(of: ability).isPossible
        let expected: Difference.Kind? = was == becomes ? nil : becomes ? .possible : .impossible
        #expect(
          Self.kind(difference, ability) == expected,
          "\(round) \(ability) \(first.environmentPass) \(first.environmentSet) → \(second.environmentPass) \(second.environmentSet)"
        )
      }
      // The others have one entry for each subject: applying what changes to what was gives what is.
      for verb in Ability.Verb.allCases where ![.readPath, .seeVariable, .pickTypes].contains(verb) {
        var extents: [Ability: Extent] = [:]
        for entry in before[verb] where entry.extent != .no { extents[entry.ability] = entry.extent }
        for change in difference.changes where change.ability.verb == verb {
          extents[change.ability] = change.after == .no ? nil : change.after
        }
        var expected: [Ability: Extent] = [:]
        for entry in after[verb] where entry.extent != .no { expected[entry.ability] = entry.extent }
        #expect(extents == expected, "\(round) \(verb)")
      }
    }
  }

  @Test func `A stricter policy makes nothing possible, and nothing go further`() {
    var random = Seeded(seed: 14)
    for round in 0..<60 {
      let settings = RandomSettings.any(&random)
      let stricter = RandomSettings.stricter(settings, &random)
      let app = RandomSettings.app(&random)
      let difference = Difference(from: Explanation(settings, app: app), to: Explanation(stricter, app: app))
      let widening = difference.changes.filter { $0.kind.widens && $0.ability.verb != .givenVariable }
      #expect(widening.isEmpty, "\(round) \(widening)")
    }
  }

  @Test func `A folder in an open one is nothing new, and of a closed one what stays open is named`() {
    var wide = PolicySettings.closed
    wide.readOnlyPaths = ["/opt"]
    wide.environmentPass = ["LC_*"]
    var narrow = PolicySettings.closed
    narrow.readOnlyPaths = ["/opt/fonts"]
    narrow.environmentPass = ["LC_ALL"]
    let difference = Difference(from: Explanation(wide), to: Explanation(narrow))
    #expect(difference.changes.map(\.kind) == [.impossible, .impossible])
    #expect(difference.changes.map(\.ability) == [Ability(.readPath, "/opt"), Ability(.seeVariable, "LC_*")])
    #expect(difference.changes.map(\.except) == [["/opt/fonts"], ["LC_ALL"]])

    // A variable that a policy sets is the host's no longer.
    var set = wide
    set.environmentSet = ["LC_ALL": "C"]
    let given = Difference(from: Explanation(wide), to: Explanation(set))
    #expect(given.changes.map(\.ability) == [Ability(.seeVariable, "LC_ALL"), Ability(.givenVariable, "LC_ALL")])
    #expect(given.changes.map(\.kind) == [.impossible, .possible])
  }

  @Test func `An amount, a way and an entitlement are differences of their own`() throws {
    var first = PolicySettings.closed
    first.scopeLimit = 256
    first.persisted = .refusing(512)
    first.passing = .entitlement
    var second = first
    second.scopeLimit = 32
    second.persisted = .android
    second.passing = .any
    let any = Difference(from: Explanation(first, app: nil), to: Explanation(second, app: nil))
    #expect(any.changes.map(\.kind) == [.less, .otherwise, .more])
    #expect(any.changes.map(\.before) == [.upTo(256), .upTo(512), .ifAllowed])
    #expect(any.changes.map(\.after) == [.upTo(32), .upTo(512), .yes])
    #expect(any.widens)
    let app = Difference(from: Explanation(first), to: Explanation(second))
    #expect(app.changes.map(\.kind) == [.less, .otherwise, .possible])
  }
}
