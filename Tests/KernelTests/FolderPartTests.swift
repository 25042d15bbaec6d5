import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

struct FolderPartTests {
  @Test(arguments: [0, 3, 3000])
  func `a folder's names come once each, also of a folder of many parts, and anew each time`(count: Int) throws {
    let folder = try Folder()
    for number in 0..<count { try Data().write(to: URL(filePath: "\(folder.path)/a file with number \(number)")) }
    let all = try Descriptor.open(folder.path, flags: [.read, .directory])
    for _ in 0..<2 {
      var (names, parts) = ([String](), 0)
      try FolderPart.each(of: all) { part in
        parts += 1
        unsafe part.forEach { name, _, _ in names.append(unsafe String(decoding: name, as: UTF8.self)) }
      }
      #expect(names.sorted() == ([".", ".."] + (0..<count).map { "a file with number \($0)" }).sorted())
      #expect((parts > 1) == (count > 1000))
    }
  }

  @Test func `what the caller throws ends the reading`() throws {
    let folder = try Folder()
    for number in 0..<3000 { try Data().write(to: URL(filePath: "\(folder.path)/a file with number \(number)")) }
    let all = try Descriptor.open(folder.path, flags: [.read, .directory])
    var parts = 0
    #expect(throws: KernelError.self) {
      try FolderPart.each(of: all) { _ throws(KernelError) in
        parts += 1
        throw KernelError("read", errno: .canceled)
      }
    }
    #expect(parts == 1)
  }
}
