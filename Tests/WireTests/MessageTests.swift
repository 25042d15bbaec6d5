import Testing

@testable import Wire

@Suite struct `Typed messages` {
  static let document = DocumentMessage(
    scope: "t0ken", grant: "g1", name: "a b.txt", kind: .file, access: .readWrite)
  static let holder = HolderMessage(
    grant: "g1", path: "/documents/g1/a", name: "a", count: 2, since: "2026-01-01T00:00:00Z", caller: "E.swift:4")
  static let scope = LauncherInterface.Scope(
    grant: "g", path: "/documents/g/a", host: "/home/user/a", process: 2, count: 1, since: "2026-01-01T00:00:00Z",
    caller: nil)

  /// Every message, with its method; `(` stands for the parameters, `)` for the answer.
  static func messages() -> [(name: String, message: any WireMessage)] {
    typealias L = LauncherInterface
    typealias A = AccessInterface
    typealias B = BookmarksInterface
    typealias P = PickerInterface
    typealias I = InspectorInterface
    let identity = I.Identity(volume: "00", handleType: -1, handle: "ff", inode: -2, birth: "b")
    let pick = P.PickCall(multiple: true, kind: .folder, access: .readOnly, types: ["txt"], message: "m")
    let resolved = B.ResolveReply(document: document, isStale: true, matchedBy: .path)
    let instance = L.Instance(
      instance: "i", bundleIdentifier: "b", name: "n", pid: 9, policy: "p", started: "s", used: 1, limit: 8,
      scopes: [scope], path: "/a", digest: "d")
    let manifest = L.Manifest(
      identifier: "org.example.Edit", name: "Edit", version: "1", networkClient: true, networkServer: false,
      selection: "read-only", appBookmarks: true)
    let capabilities = L.Capabilities(
      policy: "teach", scopeLimit: 8, references: true, replaced: "follow", readOnlyPaths: ["/srv"],
      variables: ["LANG"],
      environment: ["EDITOR": "vi"], network: "loopback", execute: true, observe: true, landlockFiles: true,
      requiredLayers: ["seccomp"],
      limits: .init(
        processes: 64, fileSize: 1, memory: 2, cpuTime: 3, wallTime: 4, processors: 1500, container: 5,
        containerFiles: 6, cgroup: true))
    return [
      (P.pick + "(", pick), (P.pick + "(", P.PickCall()), (P.pick + ")", P.PickReply(documents: [document])),
      (A.start + "(", A.StartCall(scope: "s", caller: "c")), (A.start + "(", A.StartCall(scope: "s", process: .parent)),
      (A.start + ")", A.StartReply(path: "/p", count: 1)),
      (A.stop + "(", A.StopCall(scope: "s")), (A.stop + "(", A.StopCall(scope: "s", process: .own)),
      (A.status + "(", A.StatusCall()), (A.status + "(", A.StatusCall(process: .parent)),
      (A.stop + ")", A.StopReply(count: 0)),
      (A.path + "(", A.ScopeCall(scope: "s")),
      (A.path + ")", A.PathReply(path: "/p", name: "n", kind: .folder, access: .readOnly)),
      (A.status + ")", A.StatusReply(used: 1, limit: 8, holders: [holder])),
      (B.create + "(", B.CreateCall(scope: "s", readOnly: true)), (B.create + ")", B.CreateReply(bookmark: "AA==")),
      (B.resolve + "(", B.ResolveCall(bookmark: "AA==")), (B.resolve + ")", resolved),
      (
        B.create + "(",
        B.CreateCall(
          scope: "s", kind: .document, relativeTo: "d", values: ["NSURLNameKey"], minimal: true, inside: "a/b")
      ),
      (B.resolve + "(", B.ResolveCall(bookmark: "AA==", relativeTo: "d", implicitStart: true, withoutMounting: true)),
      (
        B.resolve + ")",
        B.ResolveReply(
          document: document, isStale: false, matchedBy: .identity, location: .trash, started: true,
          isPlaceTaken: true)
      ),
      (B.createContained + "(", B.CreateContainedCall(path: "a", values: ["NSURLNameKey"])),
      (B.values + "(", B.ValuesCall(bookmark: "AA==")),
      (
        B.values + ")",
        B.ValuesReply(
          keys: ["NSURLNameKey"], name: "n", path: "/p", kind: .file, access: .readOnly, size: 1, created: 2,
          modified: 3, volumeName: "v")
      ),
      (B.values + ")", B.ValuesReply(keys: [], name: "n", path: "/p", kind: nil, access: .readWrite)),
      (I.bookmark + "(", I.BookmarkCall(sealed: "AA==")),
      (
        I.bookmark + ")",
        I.BookmarkReply(
          purpose: .bookmark, app: "a", grant: "g", state: .inForce, origin: "user", access: .readOnly, kind: .file,
          scope: .document, until: "u", relativeTo: identity, made: "m", path: "/p", identity: identity,
          place: .init(folder: identity, name: "n"), values: ["NSURLNameKey"],
          found: .init(path: "/p", matchedBy: .path, by: "folder", isStale: true, location: "trash"), problem: "x")
      ),
      (
        I.bookmark + ")",
        I.BookmarkReply(
          purpose: .reference, app: "a", grant: "g", state: .unknown, access: .readWrite, scope: .app, path: "/p")
      ),
      (B.resolveReference + "(", B.ResolveReferenceCall(reference: "AA==")), (B.resolveReference + ")", resolved),
      (
        L.prepare + "(",
        L.PrepareCall(
          program: "/e", manifest: manifest, container: "other", policy: "teach", variables: ["LANG"], observe: true,
          seccomp: "/p.json", limits: ["memory=1GiB"], canAsk: true, answers: [.init(.identity, "new")],
          allowEntitlements: ["com.apple.security.network.client"], files: [.folder, .executable], script: "/usr/s")
      ),
      (
        L.prepare + "(",
        L.PrepareCall(program: "/e", manifest: nil, container: nil, policy: "teach", variables: [], observe: false)
      ),
      (
        L.prepare + ")",
        L.PrepareReply(
          instance: "i", bundleIdentifier: "org.example.Edit", name: "Edit", container: "/c", hostID: -1,
          filters: 2, network: true, capabilities: capabilities, notices: ["n"],
          path: "/a", digest: "d")
      ),
      (
        L.attach + "(",
        L.AttachCall(
          instance: "i", bundleIdentifier: "b", name: "n", policy: "p", scopeLimit: 1, references: false,
          replaced: "refuse", pid: 9,
          resume: true,
          degraded: [.init(layer: "landlock", enforcement: .partial, reason: "r", allowed: true)], path: "/a",
          digest: "d")
      ),
      (L.prompts + "(", L.PromptsCall(instance: "i")),
      (L.prompts + ")", L.PromptsReply(request: L.PickRequest(id: 3, call: pick, appName: "Edit"))),
      (L.answer + "(", L.AnswerCall(instance: "i", id: 3, how: .scripted, paths: ["/a"], unavailable: "no terminal")),
      (L.answer + ")", L.AnswerReply(refused: ["/"])),
      (
        L.denied + "(",
        L.DeniedCall(
          instance: "i", operation: "read", path: "/srv/x", call: nil, error: "EPERM", rule: "SBX-2", reason: "r",
          remedy: "m", suppressed: 3)
      ),
      (L.denied + ")", L.DeniedReply(name: "keyctl")),
      (L.ended + ")", L.EndedReply(leaks: [scope], reason: "r")), (L.ended + ")", L.EndedReply()),
      (L.ended + "(", L.EndedCall(instance: "i", status: 0, signal: 9)),
      (L.instances + ")", L.InstancesReply(instances: [instance])),
    ] + grantMessages()
  }

  static func grantMessages() -> [(name: String, message: any WireMessage)] {
    typealias A = AccessInterface
    typealias G = GrantsInterface
    typealias T = TransferInterface
    let use = G.Use(instance: "i", pid: 9, process: 3, count: 2, since: "s", caller: "E.swift:4")
    let grant = G.Grant(
      grant: "g", bundleIdentifier: "b", path: "/a", kind: .file, access: .readOnly, origin: .passed, created: "c",
      lastUsed: "l", parent: "p", bookmarks: 1, uses: [use], appPath: "/a", appDigest: "d")
    let holder = G.Holder(pid: 7, reads: true, writes: false, mapped: true, folder: false, changesFolder: false)
    let ended = G.Ended(
      grant: "g", bundleIdentifier: "b", path: "/a", access: .readWrite, scopes: 1, outlived: [holder], killed: true)
    let app = G.App(
      bundleIdentifier: "b", name: "n", version: "1", grants: 1, running: 2, container: true, path: "/a", digest: "d")
    let remembered = G.Identity(
      bundleIdentifier: "another.b", claimed: "b", path: "/a", digest: "d", owners: [0, 1000], remembered: "r",
      grants: 2)
    return [
      (G.identities + ")", G.IdentitiesReply(identities: [remembered])), (G.forget + "(", G.ForgetCall(app: "b")),
      (G.forget + ")", G.ForgetReply(grants: 3)),
      (A.open + "(", A.OpenCall(scope: "s", access: .readOnly)), (A.open + "(", A.OpenCall(scope: "s")),
      (A.release + "(", A.ScopeCall(scope: "s")),
      (T.pass + "(", T.PassCall(scope: "s", to: "b", access: .readWrite)),
      (T.pass + ")", T.Transfer(transfer: "AA==")), (T.redeem + "(", T.Transfer(transfer: "AA==")),
      (T.redeem + ")", T.RedeemReply(document: document)),
      (G.list + "(", G.ListCall(app: "b")), (G.list + "(", G.ListCall()), (G.list + ")", G.ListReply(grants: [grant])),
      (G.revoke + "(", G.RevokeCall(grant: "g", app: "b", path: "/a")), (G.revoke + "(", G.RevokeCall(all: true)),
      (G.revoke + ")", G.RevokeReply(ended: [ended], through: [grant])),
      (G.apps + ")", G.AppsReply(apps: [app])), (G.remove + "(", G.RemoveCall(app: "b", keepData: true, kill: false)),
      (G.entitlements + "(", G.EntitlementsCall(app: "b")),
      (G.entitlements + ")", G.EntitlementsReply(allowed: ["network"], refused: ["pass-grants"])),
      (G.remove + ")", G.RemoveReply(ended: [ended], leftovers: ".x")),
      (G.remove + ")", G.RemoveReply(ended: [], leftovers: nil)),
    ]
  }

  @Test func `each is as its interface describes it, and is read as it was written`() throws {
    let interfaces = Dictionary(
      uniqueKeysWithValues: Interface.all.map { ($0.name, $0) })
    func again<Message: WireMessage>(_ message: Message) throws -> JSONObject { try Message(json: message.json).json }
    for (name, message) in Self.messages() {
      let json = message.json
      let method = name.dropLast()
      let dot = try #require(method.lastIndex(of: "."))
      let interface = try #require(interfaces[String(method[..<dot])])
      let description = try #require(interface.methods[String(method[method.index(after: dot)...])])
      let structure = name.hasSuffix("(") ? description.parameters : description.reply
      #expect(interface.fault(in: json, against: structure) == nil, "\(name): \(json.text)")
      #expect(try again(message) == json, "\(name)")
    }
  }

  @Test func `every error is as its interface describes it`() {
    let service = WireService(
      info: ServiceInfo(version: "1", url: "u"), interfaces: Interface.all)
    let errors: [(String, ErrorReply)] = [
      (PickerInterface.pick, PickerInterface.Failure.cancelled),
      (PickerInterface.pick, PickerInterface.Failure.noUser("r")),
      (PickerInterface.pick, PickerInterface.Failure.notGrantable("r")),
      (AccessInterface.start, AccessInterface.Failure.limitReached(limit: 8, holders: [Self.holder])),
      (AccessInterface.start, AccessInterface.Failure.invalidScope),
      (AccessInterface.start, AccessInterface.Failure.revoked),
      (AccessInterface.start, AccessInterface.Failure.unavailable("r")),
      (AccessInterface.open, AccessInterface.Failure.notActive),
      (AccessInterface.open, AccessInterface.Failure.readOnly),
      (PickerInterface.pick, PickerInterface.Failure.quotaReached(limit: 8)),
      (TransferInterface.pass, TransferInterface.Failure.notAllowed("r")),
      (TransferInterface.pass, TransferInterface.Failure.tooMuch),
      (TransferInterface.pass, TransferInterface.Failure.invalidScope),
      (TransferInterface.redeem, TransferInterface.Failure.badSeal("r")),
      (TransferInterface.redeem, TransferInterface.Failure.revoked),
      (TransferInterface.redeem, TransferInterface.Failure.notFound(name: "n")),
      (TransferInterface.redeem, TransferInterface.Failure.quotaReached(limit: 8)),
      (GrantsInterface.revoke, GrantsInterface.Failure.notFound("r")),
      (GrantsInterface.remove, GrantsInterface.Failure.running("b", 1)),
      (GrantsInterface.remove, GrantsInterface.Failure.failed("r")),
      (BookmarksInterface.create, BookmarksInterface.Failure.notActive),
      (BookmarksInterface.create, BookmarksInterface.Failure.invalidScope),
      (BookmarksInterface.resolve, BookmarksInterface.Failure.badSeal("r")),
      (BookmarksInterface.resolve, BookmarksInterface.Failure.revoked),
      (BookmarksInterface.resolve, BookmarksInterface.Failure.notFound(name: "n")),
      (LauncherInterface.prepare, LauncherInterface.Failure.unknownInstance("i")),
      (LauncherInterface.prepare, LauncherInterface.Failure.failed("r")),
      (PickerInterface.pick, .invalidParameter("p")), (PickerInterface.pick, .methodNotFound("p")),
      (PickerInterface.pick, .interfaceNotFound("p")), (PickerInterface.pick, .permissionDenied),
      (PickerInterface.pick, .expectedMore),
    ]
    for (method, error) in errors { #expect(service.fault(in: Reply(error), to: method) == nil, "\(error)") }
    #expect(service.fault(in: Reply(ErrorReply("io.ambit.Access.Nonsense")), to: AccessInterface.start) != nil)
    #expect(service.fault(in: Reply(["path": "/p"]), to: AccessInterface.start) == "count")
  }

  @Test func `a field that is not as expected is named`() {
    #expect(throws: FieldError(field: "kind", expected: "one of file, folder, package")) {
      var json = Self.document.json
      json["kind"] = "pipe"
      _ = try DocumentMessage(json: json)
    }
    #expect(throws: FieldError(field: "count", expected: "a whole number")) {
      _ = try AccessInterface.StopReply(json: ["count": "1"])
    }
  }
}

@Suite struct `Scoped URLs` {
  @Test func `a name of any characters goes into the URL and comes out again`() throws {
    for name in [
      "a.txt", "a b#c?d%e.txt", "ä€😀", "%41", "..a", "a:b&c=d+e", "\n\"\\", "~", String(repeating: "x", count: 255),
    ] {
      let format = ScopedURLFormat(grant: "g-1", name: name, scope: "tok/+=_-")
      #expect(ScopedURLFormat(url: format.url) == format, "\(format.url)")
      #expect(format.url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }
    #expect(
      ScopedURLFormat(grant: "7", name: "My notes.txt", scope: "abc").url
        == "file:///documents/7/My%20notes.txt#ambit-scope=abc")
  }

  @Test func `something in a granted folder has the folder's scope`() {
    #expect(
      ScopedURLFormat(url: "file:///documents/7/Folder/sub/a.txt#ambit-scope=abc")
        == ScopedURLFormat(grant: "7", name: "Folder", scope: "abc"))
  }

  @Test(arguments: [
    "file:///documents/7/a.txt", "file:///documents/7/a.txt#", "file:///documents/7/a.txt#ambit-scope=",
    "file:///documents/7/a.txt#scope=x", "file:///documents/7#ambit-scope=x", "file:///documents//a#ambit-scope=x",
    "file:///documents/7/#ambit-scope=x", "file:///etc/passwd#ambit-scope=x", "/documents/7/a#ambit-scope=x",
    "file:///documents/../etc#ambit-scope=x", "file:///documents/7/..#ambit-scope=x",
    "file:///documents/7/a%2Fb#ambit-scope=x", "file:///documents/7/a%2#ambit-scope=x",
    "file:///documents/7/a%FF#ambit-scope=x", "file:///documents/7/a%00#ambit-scope=x", "",
  ])
  func `anything else is no scoped URL`(url: String) { #expect(ScopedURLFormat(url: url) == nil) }
}
