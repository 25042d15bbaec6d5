import AppModel
import Testing

/// Which app it is that claims an identifier: by its digest, its place and its owners.
@Suite struct `An app's identity` {
  static let (a, b) = (digest(1), digest(2))
  static func digest(_ byte: UInt8) -> AppDigest { AppDigest([UInt8](repeating: byte, count: 32))! }

  static func seen(_ digest: AppDigest, _ path: String, _ owners: [UInt32] = [1000], program: Bool = false) -> SeenApp {
    SeenApp(claimed: "io.ed", digest: digest, path: path, owners: owners, isProgram: program)
  }

  static let known = RememberedApp(
    identifier: "io.ed", claimed: "io.ed", digest: a, path: "/apps/Ed.app", owners: [1000])
  static let other = RememberedApp(
    identifier: "another.io.ed", claimed: "io.ed", digest: b, path: "/tmp/Ed.app", owners: [1000])

  @Test(arguments: [
    // Nothing else changed.
    (seen(a, "/apps/Ed.app"), [known], false, IdentityVerdict.same(known)),
    // The same content elsewhere.
    (seen(a, "/new/Ed.app"), [known], true, .moved(known)), (seen(a, "/new/Ed.app"), [known], false, .copied(known)),
    // A new owner could put anything there later, so the place is not his.
    (seen(a, "/new/Ed.app", [33]), [known], true, .copied(known)),
    (seen(a, "/apps/Ed.app", [33]), [known], false, .copied(known)),
    // Another content in the same place.
    (seen(b, "/apps/Ed.app"), [known], false, .updated(known)),
    (seen(b, "/apps/Ed.app", [33]), [known], false, .stranger(to: known)),
    (seen(b, "/apps/Ed.app", [0, 1000]), [known], false, .stranger(to: known)),
    // Another content elsewhere, whether or not the place is left.
    (seen(b, "/tmp/Ed.app"), [known], false, .stranger(to: known)),
    (seen(b, "/tmp/Ed.app"), [known], true, .stranger(to: known)),
    // What was taken in as a new app stays one, and does not become the other by being put in its place.
    (seen(b, "/tmp/Ed.app"), [known, other], false, .same(other)),
    (seen(digest(3), "/tmp/Ed.app"), [known, other], false, .updated(other)),
    (seen(b, "/apps/Ed.app"), [known, other], false, .copied(other)),
    (seen(digest(3), "/x/Ed.app"), [other, known], false, .stranger(to: known)),
    // Nobody has the identifier.
    (seen(a, "/apps/Ed.app"), [], false, .first), (seen(a, "/apps/Ed.app"), [other], false, .first),
    // A program's identity comes from its path.
    (seen(a, "/apps/Ed.app", program: true), [known], false, .same(known)),
    (seen(b, "/apps/Ed.app", program: true), [known], false, .updated(known)),
    (seen(a, "/new/Ed.app", program: true), [known], true, .stranger(to: known)),
    (seen(b, "/apps/Ed.app", [0], program: true), [known], false, .stranger(to: known)),
  ])
  func `is told by a table`(seen: SeenApp, records: [RememberedApp], isVacant: Bool, verdict: IdentityVerdict) {
    for order in [records, records.reversed()] {
      #expect(IdentityVerdict(of: seen, among: order, isVacant: { _ in isVacant }) == verdict)
    }
  }

  @Test func `a digest is written as 64 digits and read again`() throws {
    let digest = try #require(AppDigest((0..<32).map { UInt8($0 * 8) }))
    #expect(digest.description.hasPrefix("0008101820") && digest.description.utf8.count == 64)
    #expect(AppDigest(hexadecimal: digest.description) == digest)
    for text in ["", "00", String(repeating: "g", count: 64), String(repeating: "0", count: 63)] {
      #expect(AppDigest(hexadecimal: text) == nil)
    }
  }
}
