import AppModel
import Policy
import Review
import Sandbox
import TestSupport
import Testing

@Suite struct `How exposed an app is` {
  @Test func `The weights make a hundred, and what weighs something can be lowered`() {
    #expect(Ability.Verb.allCases.reduce(0) { $0 + $1.weight } == 100)
    for verb in Ability.Verb.allCases { #expect((verb.weight > 0) == (verb.remedy != nil), "\(verb)") }
  }

  @Test func `The same app under a stricter policy never scores worse`() {
    var random = Seeded(seed: 3)
    for round in 0..<150 {
      let settings = RandomSettings.any(&random)
      let stricter = RandomSettings.stricter(settings, &random)
      let app = RandomSettings.app(&random)
      let before = Exposure(Explanation(settings, app: app))
      let after = Exposure(Explanation(stricter, app: app))
      for part in after.parts {
        let other = before[part.verb]?.tenths ?? 0
        #expect(part.tenths <= other, "\(round) \(part.verb) \(settings) \(stricter)")
      }
      #expect(after.tenths <= before.tenths)
      #expect((0...1000).contains(before.tenths))
    }
  }

  @Test func `A machine-wide policy never makes an app score worse`() throws {
    var random = Seeded(seed: 5)
    for round in 0..<80 {
      let settings = RandomSettings.any(&random)
      let machine = try RandomSettings.machine(&random)
      let app = RandomSettings.app(&random)
      let narrowed = Policy.test(settings).narrowed(by: [machine], memory: Ground.whole.memory)
      let before = Exposure(Explanation(settings, app: app))
      let after = Exposure(Explanation(narrowed.settings, app: app))
      for part in after.parts {
        #expect(part.tenths <= before[part.verb]?.tenths ?? 0, "\(round) \(part.verb) \(settings) \(machine)")
      }
    }
  }

  @Test func `An app that asks never scores better than one that does not, and a policy alone lies between`() {
    var random = Seeded(seed: 4)
    for _ in 0..<80 {
      let settings = RandomSettings.any(&random)
      let silent = Exposure(Explanation(settings, app: .test()))
      let asking = Exposure(
        Explanation(
          settings,
          app: .test(
            .init(networkClient: true, networkServer: true, passGrants: true, executePicked: true), shares: true)))
      let any = Exposure(Explanation(settings, app: nil))
      #expect(silent.tenths <= any.tenths && any.tenths <= asking.tenths)
    }
  }

  @Test func `The score is the sum of its parts, and each remedy says what it is worth`() {
    var settings = PolicySettings.closed
    settings.network = .host
    let exposure = Exposure(Explanation(settings))
    #expect(exposure.remedies.first?.remedy == "[network] access = \"none\"")
    #expect(exposure.remedies.first?.tenths == 240)
    #expect(exposure.remedies.reduce(0) { $0 + $1.tenths } == exposure.tenths)
    settings.network = .none
    #expect(Exposure(Explanation(settings)).tenths == exposure.tenths - 240)
  }

  @Test func `The ready-made policies come in the order that their names promise`() throws {
    let library = PolicyLibrary(directories: [])
    func tenths(_ name: String) throws -> Int {
      let policy = try library.resolve(name)
      return Exposure(Explanation(policy: policy.policy, origins: PolicyOrigins(of: policy), app: .test(), on: .whole))
        .tenths
    }
    #expect(try tenths("strict") < tenths("teach"))
    #expect(try tenths("teach") < tenths("default"))
    #expect(try tenths("observed") < tenths("default"))
    #expect(try tenths("default") < tenths("stress"))
    #expect(try tenths("apple-identity") < tenths("default"))
  }

  @Test func `The points of an ability stand with what they are for`() throws {
    var settings = PolicySettings.closed
    settings.readOnlyPaths = ["/opt/a/b", "/srv"]
    settings.environmentPass = ["LANG", "LC_*"]
    let exposure = Exposure(Explanation(settings))
    #expect(exposure[.readPath]?.ability == Ability(.readPath, "/srv"))
    #expect(exposure[.seeVariable]?.ability == Ability(.seeVariable, "LC_*"))
    #expect(exposure[.pickDocuments]?.ability == Ability(.pickDocuments, "open"))
    settings.requiredLayers = [.namespaces, .seccomp]
    let required = Exposure(Explanation(settings))
    #expect(required[.runWithout].map { settings.requiredLayers.map(\.rawValue).contains($0.ability.subject) } == false)
  }
}
