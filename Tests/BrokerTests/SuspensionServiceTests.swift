import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Audit
@testable import Broker

@Suite struct `A suspended app` {
  private func suspend(_ world: BrokerWorld, _ app: String) throws -> [LauncherInterface.Suspension] {
    let call = LauncherInterface.SuspendCall(app: app)
    let answer = try world.user.call(LauncherInterface.suspend, call.json)
    return try LauncherInterface.SuspendReply(json: answer.parameters).instances
  }

  private func resume(_ world: BrokerWorld, _ app: String) throws -> [LauncherInterface.Suspension] {
    let call = LauncherInterface.ResumeCall(app: app)
    let answer = try world.user.call(LauncherInterface.resume, call.json)
    return try LauncherInterface.ResumeReply(json: answer.parameters).instances
  }

  private func listed(_ world: BrokerWorld) throws -> [LauncherInterface.Instance] {
    try LauncherInterface.InstancesReply(json: try world.user.call(LauncherInterface.instances).parameters).instances
  }

  @Test func `is known as such, keeps its scopes, and is told of once`() async throws {
    let world = try await BrokerWorld()
    let calls = BrokerWorld.Calls()
    try await world.hear(calls)
    let app = try world.launch()
    let document = try app.pick([try world.file("a.txt")])[0]
    try app.start(document)
    for attempt in [true, false] {
      let outcome = try #require(try suspend(world, app.instance).first)
      #expect(outcome.changed == attempt && outcome.failure == nil && outcome.suspended != nil)
      #expect(outcome.processes == (attempt ? 2 : nil))
    }
    let instance = try #require(try listed(world).first)
    #expect(instance.suspended != nil && instance.scopes.count == 1)
    // Its grants can end meanwhile.
    try app.revokeAll()
    #expect(try listed(world).first?.scopes.isEmpty == true)
    for attempt in [true, false] {
      let outcome = try #require(try resume(world, app.instance).first)
      #expect(outcome.changed == attempt && outcome.failure == nil && outcome.suspended == nil)
    }
    #expect(try listed(world).first?.suspended == nil && world.suspension.resumes == 1)
    #expect(calls.all == ["suspend \(app.instance) true", "resume \(app.instance) false"])
    try await world.end()
    let events = try world.events(.suspend) + world.events(.resume)
    #expect(events.map(\.result) == [.allowed, .allowed] && events.allSatisfy { $0.instance == app.instance })
    #expect(events.map(\.sentence) == ["was suspended (2 processes)", "was resumed"])
  }

  @Test func `is meant by its identifier or name, with all instances, and by an instance alone`() async throws {
    let world = try await BrokerWorld()
    let one = try world.launch()
    let two = try world.launch()
    #expect(Set(try suspend(world, "org.example.app").map(\.instance)) == [one.instance, two.instance])
    #expect(try resume(world, two.instance).map(\.instance) == [two.instance])
    #expect(try listed(world).count { $0.suspended != nil } == 1)
    #expect(try suspend(world, "App").count == 2)
    let other = try world.launch("org.example.other")
    for (name, words) in [("App", "org.example.app, org.example.other"), ("nothing", "“ambit ps”")] {
      do {
        _ = try suspend(world, name)
        Issue.record("\(name) was suspended")
      } catch WireError.remote(let error, let parameters) {
        #expect(error == LauncherInterface.Failure.notRunningName)
        #expect(try parameters.string("reason").contains(words), "\(parameters)")
      }
    }
    withExtendedLifetime(other) {}
    try await world.end()
  }

  @Test func `goes on, with an event, if its processes do not stop`() async throws {
    let world = try await BrokerWorld()
    let calls = BrokerWorld.Calls()
    try await world.hear(calls)
    let app = try world.launch()
    world.suspension.have(nil)
    let outcome = try #require(try suspend(world, app.instance).first)
    #expect(!outcome.changed && outcome.suspended == nil && outcome.failure?.contains("did not stop") == true)
    #expect(SuspensionRecords(world.folders).since(app.instance) == nil && calls.all.isEmpty)
    try await world.end()
    #expect(try world.events(.suspend).map(\.result) == [.failed])
  }

  @Test func `others are answered while it is being suspended, and a resume waits for its turn`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    try world.suspension.close()
    let (first, second) = (try app.userSide(), try app.userSide())
    try first.send(LauncherInterface.suspend, LauncherInterface.SuspendCall(app: app.instance).json)
    // Its launcher hears of the stop perhaps before the broker does.
    try Deadline.wait(for: "the record") { SuspensionRecords(world.folders).since(app.instance) != nil }
    try second.send(LauncherInterface.resume, LauncherInterface.ResumeCall(app: app.instance).json)
    #expect(try listed(world).first?.suspended == nil)
    #expect(try second.receive(wait: false) == nil)
    world.suspension.open()
    let suspended = try LauncherInterface.SuspendReply(json: try #require(try first.receive(wait: true)).parameters)
    let resumed = try LauncherInterface.ResumeReply(json: try #require(try second.receive(wait: true)).parameters)
    #expect(suspended.instances.map(\.changed) == [true] && resumed.instances.map(\.changed) == [true])
    #expect(SuspensionRecords(world.folders).since(app.instance) == nil)
    try await world.end()
  }

  @Test func `a client that leaves meanwhile does not leave it half suspended`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    try world.suspension.close()
    do {
      let gone = try app.userSide()
      try gone.send(LauncherInterface.suspend, LauncherInterface.SuspendCall(app: app.instance).json)
      try Deadline.wait(for: "the record") { SuspensionRecords(world.folders).since(app.instance) != nil }
    }
    try app.settle()
    world.suspension.open()
    try Deadline.wait(for: "the suspension") { try listed(world).first?.suspended != nil }
    try await world.end()
  }

  @Test(arguments: [true, false])
  func `is known to the next broker, as far as the kernel agrees`(isStopped: Bool) async throws {
    let world = try await BrokerWorld()
    let calls = BrokerWorld.Calls()
    try await world.hear(calls)
    let name = "taken-over"
    try SuspensionRecords(world.folders).add(name, since: 1_000_000_000)
    world.suspension.set(suspended: isStopped)
    let app = try world.launch(instance: name)
    #expect(try listed(world).first?.suspended == (isStopped ? "1970-01-01T00:00:01.000Z" : nil))
    #expect((SuspensionRecords(world.folders).since(name) != nil) == isStopped)
    // The broker before this one may have stopped some processes of it.
    #expect(world.suspension.resumes == (isStopped ? 0 : 1))
    #expect(calls.all == (isStopped ? ["suspend \(name) true"] : []))
    withExtendedLifetime(app) {}
    try await world.end()
  }
}
