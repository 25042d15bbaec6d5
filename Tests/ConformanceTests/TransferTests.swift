import Audit
import Foundation
import TestSupport
import Testing

/// TOK-15, TOK-18: a right that one app passes on to another one.
@Suite(.serialized, .waiting)
struct TransferTests {
  private let entitled = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict><key>io.ambit.pass-grants</key><true/></dict></plist>
    """
  private let giverName = Workspace.identifier("Giver")
  private let takerName = Workspace.identifier("Taker")

  /// An app that may pass rights on and has `letter.txt` as `a`, and one that has nothing.
  private func withPair(
    _ user: TestUser, readOnly: Bool = false, _ body: (Workspace, _ giver: AppRun, _ taker: AppRun) throws -> Void
  ) throws {
    try Workspace.with(user) { world in
      try world.bundle("Giver", identifier: giverName, entitlements: entitled)
      let document = try world.document("letter.txt", "text")
      let giver = try world.probe("Giver", picks: [document], options: ["--allow-entitlement", "pass-grants"])
      try giver.pick(["readOnly": .bool(readOnly)])
      try body(world, giver, try world.probe("Taker"))
    }
  }

  private func transfer(_ giver: AppRun, to app: String, writing: Bool = false) throws -> JSON {
    try giver.tell("pass", ["of": "a", "to": .string(app), "write": .bool(writing)])
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-18: what is passed on is a grant of its own, with no more rights, and ends with its parent`(
    user: TestUser
  ) throws {
    try withPair(user) { (world, giver, taker) throws in
      let passed = try #require(try transfer(giver, to: takerName)["transfer"])
      #expect(try taker.tell("redeem", ["transfer": passed, "as": "a"]).url != nil)
      #expect(try taker.start())
      #expect(try taker.read().content == "text")
      #expect(try taker.tell("append", ["of": "a", "text": "x"]).errno == "EROFS")
      let grants = try world.grants()
      try #require(grants.count == 2)
      #expect(grants[1]["origin"] == "passed" && grants[1]["parent"] == grants[0]["grant"])
      #expect(grants[1]["bundleIdentifier"]?.string == takerName && grants[1]["access"] == "readOnly")
      let granted = try world.audit(.grant).last
      #expect(granted?.detail["parent"] == grants[0]["grant"]?.string && granted?.detail["by"] == giverName)
      #expect(try world.audit(.passed).map { $0.detail["to"] } == [takerName])
      // Redeemed once more it is the same grant.
      #expect(try taker.tell("redeem", ["transfer": passed, "as": "b"]).url != nil)
      #expect(try world.grants().count == 2)

      #expect(try world.ambit("revoke", "--app", giverName).exit == .status(0))
      #expect(try taker.read().errno == refused)
      #expect(try !taker.start())
      #expect(try taker.tell("redeem", ["transfer": passed, "as": "c"]).url == nil)
      #expect(try world.grants().isEmpty)
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `TOK-18: who may write passes writing on, if they say so, and its end takes that away`(user: TestUser) throws {
    try withPair(user) { (world, giver, taker) throws in
      let passed = try #require(try transfer(giver, to: takerName, writing: true)["transfer"])
      #expect(try taker.tell("redeem", ["transfer": passed, "as": "a"]).url != nil)
      #expect(try taker.start())
      #expect(try taker.tell("append", ["of": "a", "text": " and more"]).isDone)
      #expect(try world.read("\(world.home)/Papers/letter.txt") == "text and more")
      // The giver sees it, and is not started by what the other one does.
      #expect(try giver.read().errno == refused)
      #expect(try giver.start())
      #expect(try giver.read().content == "text and more")
      let grants = try world.grants()
      try #require(grants.count == 2)
      #expect(grants[1]["origin"] == "passed" && grants[1]["access"] == "readWrite")
      let granted = try #require(try world.audit(.grant).last)
      #expect(granted.app == takerName && granted.detail[AuditEvent.Fact.access] == "readWrite")
      #expect(try world.audit(.passed).map { $0.detail[AuditEvent.Fact.access] } == ["readWrite"])
      #expect(try world.ambit("revoke", "--app", giverName).exit == .status(0))
      #expect(try taker.tell("append", ["of": "a", "text": "!"]).errno == refused)
      #expect(try world.read("\(world.home)/Papers/letter.txt") == "text and more")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `TOK-15, TOK-18: a token or a transfer in other hands is nothing, and nobody passes on more than they have`(
    user: TestUser
  ) throws {
    try withPair(user, readOnly: true) { (world, giver, taker) throws in
      #expect(try transfer(giver, to: takerName, writing: true)["posix"] == "EPERM")
      #expect(try transfer(giver, to: "../../etc")["posix"] == "EPERM")
      let elsewhere = try #require(try transfer(giver, to: "org.example.third")["transfer"])
      #expect(try taker.tell("redeem", ["transfer": elsewhere, "as": "a"]).url == nil)
      var bent = Array(try #require(try transfer(giver, to: takerName)["transfer"]?.string).utf8)
      bent[bent.count / 2] = bent[bent.count / 2] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let changed = JSON.string(String(decoding: bent, as: UTF8.self))
      #expect(try taker.tell("redeem", ["transfer": changed, "as": "a"]).url == nil)
      // The giver itself is not whom it is for either.
      let right = try #require(try transfer(giver, to: takerName)["transfer"])
      #expect(try giver.tell("redeem", ["transfer": right, "as": "b"]).url == nil)
      #expect(try world.grants().count == 1)
      // Without the entitlement nothing is passed on, also not what was passed on before.
      #expect(try taker.tell("redeem", ["transfer": right, "as": "a"]).url != nil)
      #expect(try taker.tell("pass", ["of": "a", "to": .string(giverName)])["posix"] == "EPERM")
      #expect(try world.audit(.passed).filter { $0.result == .refused }.allSatisfy { $0.rule == "TOK-18" })
    }
  }

  @Test(arguments: TestUser.one(.root))
  func `TOK-18: what the user has taken from an app, a right that was passed on before does not give back`(
    user: TestUser
  ) throws {
    try withPair(user) { (world, giver, taker) throws in
      let first = try #require(try transfer(giver, to: takerName)["transfer"])
      let second = try #require(try transfer(giver, to: takerName)["transfer"])
      #expect(try taker.tell("redeem", ["transfer": first, "as": "a"]).url != nil)
      #expect(try taker.start())
      #expect(try world.ambit("revoke", "--app", takerName).exit == .status(0))
      for each in [first, second] { #expect(try taker.tell("redeem", ["transfer": each, "as": "b"]).url == nil) }
      #expect(try giver.start())
      // A new one is a new decision.
      let third = try #require(try transfer(giver, to: takerName)["transfer"])
      #expect(try taker.tell("redeem", ["transfer": third, "as": "c"]).url != nil)
    }
  }
}
