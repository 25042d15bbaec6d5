import Foundation
import Kernel
import Sandbox
import TestSupport
import Testing

@testable import Launcher

/// Paths of an app's as they are followed from outside.
@Suite struct `Observed paths` {
  private func observed(_ path: String, below root: Descriptor) -> ObservedPath? {
    ObservedPath(Array(path.utf8), from: nil, thread: getpid(), root: root)
  }

  private func names(_ count: Int, _ name: String = "a") -> String {
    Array(repeating: name, count: count).joined(separator: "/")
  }

  @Test func `missing names keep their order, and links to missing files are followed`() throws {
    let folder = try TemporaryFolder()
    let root = try Descriptor.open(folder.path, flags: [.path, .directory])
    let missing = try #require(observed("/b/c/d", below: root))
    #expect(missing.path == "\(folder.path)/b/c/d" && missing.presence == .missing)
    try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/link", withDestinationPath: "/away/there")
    #expect(observed("/link/c/d", below: root)?.path == "\(folder.path)/away/there/c/d")
  }

  @Test func `paths with very many missing names are not told`() throws {
    let folder = try TemporaryFolder()
    let root = try Descriptor.open(folder.path, flags: [.path, .directory])
    #expect(observed("/\(names(256))", below: root)?.path == "\(folder.path)/\(names(256))")
    #expect(observed("/\(names(257))", below: root) == nil)
    let long = String(repeating: "n", count: 200)
    #expect(observed("/\(names(19, long))", below: root) != nil)
    // Each link adds a path as long as a link's may be.
    for number in 0..<3 {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder.path)/\(number)", withDestinationPath: "/\(number + 1)/\(names(100))")
    }
    #expect(observed("/2", below: root)?.path == "\(folder.path)/3/\(names(100))")
    #expect(observed("/1", below: root)?.path == "\(folder.path)/3/\(names(200))")
    #expect(observed("/0", below: root) == nil)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/far", withDestinationPath: "/gone/\(names(10, long))")
    #expect(observed("/far/\(names(9, long))", below: root) != nil)
    #expect(observed("/far/\(names(11, long))", below: root) == nil)
  }
}
