import AppModel
import TestSupport
import Testing

@testable import ScopedAccess

@Suite struct `Whose documents are shown` {
  /// The user's view: the scope is what the bundle of the highest version had, the first of them; the other what the last had.
  @Test func `SBX-6, SBX-7: agrees with a simple model under random launches`() {
    var generator = Seeded(seed: 7)
    var failures = 0
    var (kept, changed) = (0, 0)
    for _ in 0..<300 {
      var shared: SharedDocuments?
      var launches: [(version: Int, scope: Bool, browser: Bool)] = []
      for _ in 0..<12 {
        let launch = (
          version: Int.random(in: 1...4, using: &generator), scope: Bool.random(using: &generator),
          browser: Bool.random(using: &generator)
        )
        launches.append(launch)
        let said = SharedDocuments(
          isBrowsable: launch.browser, isPublicScope: launch.scope, version: "1.\(launch.version)")
        let before = shared
        shared = shared?.after(said) ?? said
        let highest = launches.map(\.version).max()
        let scope = launches.first { $0.version == highest }?.scope
        if shared?.isPublicScope != scope || shared?.isBrowsable != launch.browser { failures += 1 }
        if let before, launch.scope != before.isPublicScope {
          if shared?.isPublicScope == before.isPublicScope { kept += 1 } else { changed += 1 }
        }
      }
    }
    #expect(failures == 0)
    #expect(kept > 100 && changed > 100)
  }
}
