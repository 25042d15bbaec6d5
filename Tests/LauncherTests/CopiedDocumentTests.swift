import Foundation
import Kernel
import TestSupport
import Testing

@testable import Launcher

/// Copies that the launcher makes for an app that renames.
@Suite struct `Copies for an app` {
  @Test func `a file beyond the app's limit is not copied`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("letter", String(repeating: "x", count: 100), mode: 0o640)
    let place = try Descriptor.open(folder.path, flags: [.path, .directory])
    func copy(to name: String, ceiling: UInt64) throws(KernelError) {
      let file = try Descriptor.open(path, flags: .read)
      let copy = try Descriptor.open(name, below: place, flags: [.write, .create, .exclusive], mode: 0o600)
      try file.copyAll(to: copy, ceiling: ceiling) { true }
    }
    let error = #expect(throws: KernelError.self) { try copy(to: "small", ceiling: 99) }
    #expect(error?.errno.symbol == "EFBIG")
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/small")).isEmpty)
    for (name, ceiling) in [("exact", UInt64(100)), ("endless", UInt64.max)] {
      try copy(to: name, ceiling: ceiling)
      #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)")).count == 100)
      #expect(try folder.mode(name) == 0o640)
    }
  }
}
