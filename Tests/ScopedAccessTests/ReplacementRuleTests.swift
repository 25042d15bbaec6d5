import Folders
import Kernel
import Testing

@testable import ScopedAccess

@Suite struct `BMK-12: what becomes of a document whose file is gone` {
  private static let whole = ReplacementRule.Candidate(
    isInSameFolder: true, kind: .regular, links: 1, isOnSameVolume: true)

  /// Every combination there is of what can be seen.
  private static var candidates: [ReplacementRule.Candidate?] {
    var all: [ReplacementRule.Candidate?] = [nil]
    for folder in [true, false] {
      for kind in [FileStatus.Kind.regular, .directory, .symlink, .other] {
        for links: UInt64 in [0, 1, 2, 100] {
          for volume in [true, false] {
            all.append(.init(isInSameFolder: folder, kind: kind, links: links, isOnSameVolume: volume))
          }
        }
      }
    }
    return all
  }

  /// The rule in other words: one case in which a file is followed, one in which a package is, and one that beats all others.
  @Test func `a file is followed in one case alone, and so is a package, whatever else is seen`() {
    for setting in ReplacementRule.Setting.allCases {
      for granted in [DocumentKind.file, .folder, .package] {
        for isFound in [true, false] {
          for candidate in Self.candidates {
            let verdict = ReplacementRule(setting).verdict(isFound: isFound, granted: granted, candidate: candidate)
            if isFound {
              #expect(verdict == .identity)
            } else if setting == .follow, granted == .file, candidate == Self.whole {
              #expect(verdict == .follow)
            } else if setting == .follow, granted == .package, candidate?.kind == .directory,
              candidate?.isInSameFolder == true, candidate?.isOnSameVolume == true
            {
              #expect(verdict == .follow)
            } else {
              guard case .refuse = verdict else {
                Issue.record("\(setting) \(granted) \(String(describing: candidate)): \(verdict)")
                continue
              }
            }
          }
        }
      }
    }
  }

  @Test(
    arguments: [
      (ReplacementRule.Reason.nothing, nil),
      (.folder, .init(isInSameFolder: false, kind: .regular, links: 1, isOnSameVolume: true)),
      (.link, .init(isInSameFolder: true, kind: .symlink, links: 1, isOnSameVolume: true)),
      (.kind, .init(isInSameFolder: true, kind: .directory, links: 1, isOnSameVolume: true)),
      (.kind, .init(isInSameFolder: true, kind: .other, links: 1, isOnSameVolume: true)),
      (.volume, .init(isInSameFolder: true, kind: .regular, links: 1, isOnSameVolume: false)),
      (.otherNames, .init(isInSameFolder: true, kind: .regular, links: 2, isOnSameVolume: true)),
    ] as [(ReplacementRule.Reason, ReplacementRule.Candidate?)])
  func `a refusal says why`(reason: ReplacementRule.Reason, candidate: ReplacementRule.Candidate?) {
    let rule = ReplacementRule(.follow)
    #expect(rule.verdict(isFound: false, granted: .file, candidate: candidate) == .refuse(reason))
  }

  @Test func `the policy and the kind of grant refuse as well`() {
    #expect(
      ReplacementRule(.refuse).verdict(isFound: false, granted: .file, candidate: Self.whole) == .refuse(.policy))
    #expect(
      ReplacementRule(.follow).verdict(isFound: false, granted: .folder, candidate: Self.whole) == .refuse(.isFolder))
    #expect(
      ReplacementRule(.follow).verdict(isFound: false, granted: .package, candidate: Self.whole)
        == .refuse(.packageKind))
  }
}
