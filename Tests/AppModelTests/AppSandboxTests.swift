import Foundation
import TestSupport
import Testing

@testable import AppModel

@Suite struct `Apple's sandbox in entitlements` {
  private static func entitlements(_ keys: [String: String]) throws -> Entitlements {
    let body = keys.map { "<key>com.apple.security.\($0.key)</key><\($0.value)/>" }.joined()
    return try Entitlements(
      try PropertyListFile(bytes: Array(Fixture.list(body).utf8), path: "Entitlements.plist"))
  }

  @Test func `what a log has of entitlements says them all, and nothing where nothing is known`() {
    let switches = [false, true]
    let sandboxes: [AppSandbox?] =
      [nil]
      + AppSandbox.Selection.allCases.flatMap { selection in
        switches.flatMap { app in
          switches.map { AppSandbox(selection: selection, appBookmarks: app, documentBookmarks: $0) }
        }
      }
    for number in 0..<16 {
      for sandbox in sandboxes {
        let entitlements = Entitlements(
          networkClient: number & 1 != 0, networkServer: number & 2 != 0, passGrants: number & 4 != 0,
          executePicked: number & 8 != 0, sandbox: sandbox)
        #expect(Entitlements(words: entitlements.words) == entitlements, "\(entitlements.words)")
      }
    }
    #expect(Entitlements(words: ["selectReadOnly", "unheard"]) == .none)
  }

  @Test func `without asking for it there is none, whatever else is asked for`() throws {
    #expect(Entitlements.none.sandbox == nil)
    #expect(try Self.entitlements(["files.user-selected.read-only": "true"]).sandbox == nil)
    #expect(try Self.entitlements(["app-sandbox": "false", "files.bookmarks.app-scope": "true"]).sandbox == nil)
  }

  @Test(
    arguments: [
      ([], AppSandbox(selection: .nothing)),
      (["files.user-selected.read-only"], AppSandbox(selection: .readOnly)),
      (["files.user-selected.read-write"], AppSandbox(selection: .readWrite)),
      (["files.user-selected.read-only", "files.user-selected.read-write"], AppSandbox(selection: .readWrite)),
      (["files.bookmarks.app-scope"], AppSandbox(selection: .nothing, appBookmarks: true)),
      (
        ["files.user-selected.read-only", "files.bookmarks.document-scope"],
        AppSandbox(selection: .readOnly, documentBookmarks: true)
      ),
    ] as [([String], AppSandbox)])
  func `with it the others say what it lets the app have`(keys: [String], expected: AppSandbox) throws {
    let all = Dictionary(uniqueKeysWithValues: (["app-sandbox"] + keys).map { ($0, "true") })
    #expect(try Self.entitlements(all).sandbox == expected)
    #expect(try Self.entitlements(all).unknown == [])
  }

  @Test func `one of another type is named, asked for or not`() {
    for key in ["app-sandbox", "files.user-selected.read-only", "files.bookmarks.document-scope"] {
      #expect(throws: AppBundleError.self) { try Self.entitlements([key: "string"]) }
    }
  }
}
