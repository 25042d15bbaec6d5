import Foundation
import Kernel
import Testing
import Wire

@Suite struct `Client and server` {
  @Test func `a call is answered`() throws {
    let folder = try TemporaryFolder()
    let server = try TestServer(in: folder) { connection, call in
      let scope = (try? call.parameters.string("scope")) ?? ""
      connection.send(Reply(AccessInterface.StartReply(path: "/documents/1/\(scope)", count: 3).json))
    }
    defer { server.stop() }
    let client = try WireClient(address: server.address)
    let answer = try client.call(AccessInterface.start, AccessInterface.StartCall(scope: "x", caller: "a:1").json)
    #expect(try AccessInterface.StartReply(json: answer.parameters) == .init(path: "/documents/1/x", count: 3))
  }
}
