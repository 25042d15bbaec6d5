import Kernel
import TestSupport
import Testing

@testable import Sandbox

@Suite struct `What a policy requires of layers` {
  private let plan = SandboxPlan(
    SandboxRequest(program: .file(path: "/usr/bin/env"), bundleIdentifier: "io.ambit.tests", container: "/c"),
    on: Layouts.merged)
  private let old = SystemFeatures(landlockABI: nil, keyrings: .present, countsProcessesByNamespace: true)

  private func admission(_ required: [Layer], _ allowing: [Layer] = []) -> LayerAdmission {
    LayerAdmission(LayerReport(plan, on: old), required: required, allowing: allowing)
  }

  @Test func `what holds in full is no reason to refuse`() {
    #expect(admission([.seccomp, .namespaces, .network]).refusal(policy: "p") == nil)
    #expect(admission([.seccomp], [.seccomp]).remarks.count == 1)
    #expect(admission([.seccomp], [.seccomp]).needless == [.seccomp])
  }

  @Test func `the refusal names each layer, how far it goes, why, what mends it, and the option`() throws {
    let machine = try #require(
      admission([.seccomp, .landlock, .observer]).refusal(policy: "mine", machine: "/etc/m.toml"))
    #expect(machine.hasPrefix("The policy mine, as the machine-wide policy /etc/m.toml narrows it, requires what"))
    let sentence = try #require(admission([.seccomp, .landlock, .observer]).refusal(policy: "mine"))
    for piece in [
      "The policy mine requires", "landlock is not enforced here: this kernel has no Landlock", "lsm=",
      "observer is not enforced here: the policy does not observe. [audit] observe = true",
      "--allow-degraded landlock --allow-degraded observer",
    ] {
      #expect(sentence.contains(piece), "\(piece): \(sentence)")
    }
    #expect(!sentence.contains("seccomp"))
  }

  @Test func `what is allowed to be less is said, and does not allow another`() throws {
    let one = admission([.landlock, .observer], [.landlock])
    #expect(one.refused.map(\.layer) == [.observer])
    #expect(one.allowed.map(\.layer) == [.landlock])
    let both = admission([.landlock, .observer], [.landlock, .observer])
    #expect(both.refusal(policy: "p") == nil)
    #expect(both.remarks.count == 2 && both.remarks[0].contains("landlock is not enforced: this kernel"))
  }

  @Test func `what the kernel lacks of the plan is known without anybody having asked`() {
    #expect(admission([]).degraded.map(\.layer) == [.landlock])
    #expect(admission([], [.landlock]).degraded.isEmpty)
    // What the policy itself does without is not held against it.
    let new = SystemFeatures(landlockABI: 7, keyrings: .present, countsProcessesByNamespace: true)
    #expect(LayerAdmission(LayerReport(plan, on: new), required: [], allowing: []).degraded.isEmpty)
  }

  @Test func `a launch goes ahead if and only if each required layer is full or allowed`() {
    var generator = Seeded(seed: 11)
    let report = LayerReport(plan, on: old)
    for _ in 0..<2_000 {
      let required = Layer.allCases.filter { _ in .random(using: &generator) }
      let allowing = Layer.allCases.filter { _ in .random(using: &generator) }
      let admission = LayerAdmission(report, required: required, allowing: allowing)
      let refused = required.filter { !report[$0].enforcement.isFull && !allowing.contains($0) }
      #expect(admission.refused.map(\.layer) == refused)
      #expect((admission.refusal(policy: "p") == nil) == refused.isEmpty)
      #expect(admission.remarks.count == allowing.count)
    }
  }
}
