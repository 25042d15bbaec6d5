import BrokerCore
import Folders
import Foundation
import Kernel
import TestSupport
import Testing
import Wire

@testable import Broker

/// A query of an app, on a connection of its own.
final class TestQuery {
  let client: WireClient
  private let app: TestApp
  private(set) var number = 0
  private(set) var items: [Int: QueryInterface.Item] = [:]
  private(set) var updates: [QueryInterface.Update] = []
  /// The answers as they came.
  private(set) var texts: [String] = []

  init(
    _ app: TestApp, _ predicate: String = "TRUEPREDICATE", _ scopes: [QueryInterface.Scope] = [.local, .external],
    places: [String]? = nil, types: [QueryInterface.DeclaredType]? = nil
  ) throws {
    self.app = app
    client = try app.connect()
    let call = QueryInterface.RunCall(predicate: predicate, scopes: scopes, places: places, types: types)
    try client.send(QueryInterface.run, call.json, more: true)
    number = try #require(try next().query)
  }

  /// Waits for the next answer.
  @discardableResult
  func next() throws -> QueryInterface.Update {
    guard let answer = try client.receive(wait: true) else { throw HarnessError("no answer") }
    return try take(answer)
  }

  private func take(_ answer: WireClient.Answer) throws -> QueryInterface.Update {
    let update = try QueryInterface.RunReply(json: answer.parameters).update
    texts.append(answer.parameters.text)
    updates.append(update)
    for item in update.present { items[item.item] = item }
    for number in update.removed { items[number] = nil }
    return update
  }

  /// Takes what has come.
  @discardableResult
  func take() throws -> [QueryInterface.Update] {
    var taken: [QueryInterface.Update] = []
    while let answer = try client.receive(wait: false) { taken.append(try take(answer)) }
    return taken
  }

  func gather() throws { while try next().phase != .gathered {} }

  /// After this, all that has happened before is known.
  func barrier() throws {
    _ = try app.app.call(QueryInterface.barrier, QueryInterface.BarrierCall(query: number).json)
    try take()
  }

  /// The results' paths, from the container's or the grant's folder on.
  var names: [String] {
    items.values.map { item in
      let parts = item.path.split(separator: "/")
      return item.external ? parts.dropFirst(2).joined(separator: "/") : parts.dropFirst(3).joined(separator: "/")
    }.sorted()
  }
}

extension TestApp {
  /// The app's own documents on the host.
  func documents(_ world: BrokerWorld) throws -> String {
    let path = "\(world.folders.containers)/\(identifier)/Documents"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// The error that a call is answered with.
  func refusal(_ method: String, _ parameters: JSONObject, more: Bool = false) throws -> String? {
    let client = try connect()
    do throws(WireError) {
      try client.send(method, parameters, more: more)
      _ = try client.receive(wait: true)
    } catch {
      guard case .remote(let name, _) = error else { throw error }
      return name.split(separator: ".").last.map(String.init)
    }
    return nil
  }
}

extension BrokerWorld {
  /// The user grants a document, without being asked.
  func grant(_ path: String, to app: String, _ access: DocumentAccess = .readWrite) throws -> String {
    let call = GrantsInterface.AddCall(app: app, access: access)
    let answer = try user.call("io.ambit.Grants.Add", call.json, descriptors: [try .open(path, flags: .place)])
    return try #require(try GrantsInterface.AddReply(json: answer.parameters).grants.first)
  }

  func revoke(grant: String) throws {
    _ = try user.call("io.ambit.Grants.Revoke", GrantsInterface.RevokeCall(grant: grant).json)
  }
}

func put(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
func move(_ path: String, _ to: String) throws { try FileManager.default.moveItem(atPath: path, toPath: to) }
func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }
func makeFolder(_ path: String) throws {
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
}
