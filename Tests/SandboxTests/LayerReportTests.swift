import Kernel
import TestSupport
import Testing

@testable import Sandbox

@Suite struct `How far each layer goes` {
  private func plan(_ change: (inout SandboxRequest) -> Void = { _ in }) -> SandboxPlan {
    var request = SandboxRequest(
      program: .file(path: "/usr/bin/env"), bundleIdentifier: "io.ambit.tests", container: "/c",
      limits: [ResourceLimit(.core, 0)])
    change(&request)
    return SandboxPlan(request, on: Layouts.merged)
  }

  private func features(
    landlock: Int? = 7, keyrings: Keyrings.Support = .present, countsProcesses: Bool = true
  ) -> SystemFeatures {
    SystemFeatures(landlockABI: landlock, keyrings: keyrings, countsProcessesByNamespace: countsProcesses)
  }

  private func word(_ layer: Layer, _ plan: SandboxPlan, _ features: SystemFeatures) -> String {
    LayerReport(plan, on: features)[layer].enforcement.name
  }

  @Test func `every layer is reported once, and each that is not full says why in the end of a sentence`() {
    var generator = Seeded(seed: 3)
    for _ in 0..<500 {
      let plan = plan { request in
        request.network = NetworkReach.allCases.randomElement(using: &generator) ?? .none
        request.observe = .random(using: &generator)
        request.hostID = .random(using: &generator) ? nil : 7
        request.limits = ResourceLimit.Kind.allCases.filter { _ in .random(using: &generator) }.map { .init($0, 1) }
      }
      let features = features(
        landlock: [nil, 1, 2, 3, 4, 5, 6, 7, 9].randomElement(using: &generator) ?? nil,
        keyrings: [.present, .absent, .refused].randomElement(using: &generator) ?? .present,
        countsProcesses: .random(using: &generator))
      let report = LayerReport(plan, on: features)
      #expect(report.entries.map(\.layer) == Layer.allCases)
      for entry in report.entries {
        #expect(entry.enforcement.isFull == (entry.enforcement.reason == nil))
        #expect(entry.enforcement.reason.map { !$0.isEmpty && !$0.hasSuffix(".") } ?? true, "\(entry)")
        #expect(entry.remedy.map { $0.hasSuffix(".") } ?? true, "\(entry)")
        #expect(!entry.isDegraded || !entry.enforcement.isFull, "\(entry)")
      }
    }
  }

  @Test func `the network is the app's own or, in part or in whole, the host's`() {
    let shared = plan { $0.network = .host }
    #expect(word(.network, plan(), features()) == "full")
    #expect(word(.network, plan { $0.network = .loopback }, features()) == "full")
    #expect(word(.network, shared, features()) == "partial")
    // The launcher connects nobody to an abstract name there, whatever Landlock knows.
    #expect(word(.network, shared, features(landlock: nil)) == "partial")
  }

  @Test(
    arguments: [
      (nil, false, "notEnforced", true), (1, false, "notEnforced", true), (3, false, "notEnforced", true),
      (4, false, "partial", true), (5, false, "partial", true), (6, false, "partial", false),
      (7, false, "partial", false),
      (nil, true, "notEnforced", true), (1, true, "partial", true), (5, true, "partial", true),
      (6, true, "full", false),
      (7, true, "full", false),
    ] as [(Int?, Bool, String, Bool)])
  func `Landlock, by what the kernel has and whether files are covered`(
    abi: Int?, files: Bool, word: String, degraded: Bool
  ) {
    var plan = plan()
    if files { plan.landlock?.denied = .all }
    let entry = LayerReport(plan, on: features(landlock: abi))[.landlock]
    #expect(entry.enforcement.name == word)
    #expect(entry.isDegraded == degraded)
    plan.landlock = nil
    #expect(self.word(.landlock, plan, features(landlock: abi)) == "notEnforced")
  }

  @Test func `a limit on processes that other processes count into is one in part`() {
    let limited = plan { $0.limits.append(.init(.processes, 64)) }
    #expect(word(.processes, plan(), features()) == "notEnforced")
    #expect(word(.processes, limited, features()) == "full")
    #expect(word(.processes, limited, features(countsProcesses: false)) == "partial")
    let apart = plan { request in
      request.limits.append(.init(.processes, 64))
      request.hostID = 1_879_048_193
    }
    #expect(word(.processes, apart, features(countsProcesses: false)) == "full")
  }

  @Test func `limits of each process, by those that are set`() {
    #expect(word(.rlimits, plan { $0.limits = [] }, features()) == "notEnforced")
    let some = LayerReport(plan(), on: features())[.rlimits]
    #expect(some.enforcement == .partial("no limit is set on open files and the size of files"))
    #expect(some.remedy == "open_files, file_size in the policy's [limits].")
    let all = plan { $0.limits += [.init(.openFiles, 64), .init(.fileSize, 64)] }
    #expect(word(.rlimits, all, features()) == "full")
  }

  @Test func `the observer holds where the policy observes`() {
    #expect(word(.observer, plan(), features()) == "notEnforced")
    #expect(word(.observer, plan { $0.observe = true }, features()) == "full")
  }

  @Test func `a limit on memory is full in a control group, and in part without one`() {
    func limited(_ usage: UsageLimits) -> SandboxPlan { plan { $0.usage = usage } }
    let alone = limited(UsageLimits(memory: 1 << 30))
    let grouped = limited(UsageLimits(processes: 5, memory: 1 << 30, cgroup: true))
    #expect(word(.memory, plan(), features()) == "notEnforced")
    #expect(word(.memory, alone, features()) == "partial")
    #expect(word(.cgroup, alone, features()) == "notEnforced")
    var both = features()
    both.groups = [.memory, .pids]
    #expect(word(.memory, grouped, both) == "full" && word(.cgroup, grouped, both) == "full")
    // Without the controller that the policy asks for it is the machine that lacks something.
    var some = features()
    some.groups = [.pids]
    let partial = LayerReport(grouped, on: some)[.cgroup]
    #expect(partial.enforcement == .partial("this user can have no group here that limits memory"))
    #expect(partial.isDegraded && word(.memory, grouped, some) == "partial")
    var none = features()
    none.groups = []
    #expect(word(.cgroup, grouped, none) == "notEnforced" && LayerReport(grouped, on: none)[.cgroup].isDegraded)
    // Only a group can hold an app to some of the processors: asking for it asks for one.
    #expect(LayerReport(limited(UsageLimits(processors: 1500)), on: none)[.cgroup].isDegraded)
  }

  @Test func `limits of time and of the container say how they are held`() {
    func limited(_ usage: UsageLimits) -> SandboxPlan { plan { $0.usage = usage } }
    for layer in [Layer.cpuTime, .wallTime, .containerSize] {
      let entry = LayerReport(plan(), on: features())[layer]
      #expect(entry.enforcement.name == "notEnforced" && entry.remedy?.contains("in the policy's [limits]") == true)
    }
    #expect(word(.cpuTime, limited(UsageLimits(cpuTime: 1)), features()) == "partial")
    #expect(word(.wallTime, limited(UsageLimits(wallTime: 1)), features()) == "full")
    #expect(word(.containerSize, limited(UsageLimits(container: 1, containerFiles: 1)), features()) == "partial")
    #expect(
      LayerReport(limited(UsageLimits(container: 1)), on: features())[.containerSize].remedy
        == "container_files in the policy's [limits].")
  }

  @Test func `what the kernel can hold each process to is a limit of each process`() {
    let usage = UsageLimits(
      processes: 1, openFiles: 2, fileSize: 3, memory: 4, cpuTime: 5, wallTime: 6, processors: 7, container: 8)
    let limits = plan { $0.usage = usage }.limits
    #expect(
      limits == [
        .init(.core, 0), .init(.processes, 1), .init(.openFiles, 2), .init(.fileSize, 3), .init(.data, 4),
        .init(.cpuTime, 5),
      ])
  }
}
