import Foundation
import Kernel
import SystemPackage
import Testing

@Suite struct `A device's node` {
  @Test(arguments: DeviceNode.allCases.filter { $0 != .tty })
  func `is opened where it is what it is called`(device: DeviceNode) throws {
    let opened = try device.open([.readWrite])
    #expect(try device.isOpen(as: opened))
    #expect(fcntl(opened.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    for other in DeviceNode.allCases where other != device { #expect(try !other.isOpen(as: opened)) }
  }

  @Test func `is no link, also not one to itself, no file, no pipe and no other device`() throws {
    let folder = try Folder()
    let file = try folder.write("file", "untouched")
    let (link, itself, pipe) = ("\(folder.path)/link", "\(folder.path)/itself", "\(folder.path)/pipe")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    try FileManager.default.createSymbolicLink(atPath: itself, withDestinationPath: "/dev/null")
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    for path in [link, itself, file, pipe, "/dev/zero", folder.path] {
      let error = #expect(throws: KernelError.self) { try DeviceNode.null.open([.readWrite, .truncate], at: path) }
      let isLink = path == link || path == itself
      #expect(error?.errno == (isLink ? .tooManySymbolicLinkLevels : Errno(rawValue: ENODEV)), "\(path)")
      #expect(error?.description.contains("\(path), which should be the character device 1:3") == true)
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "untouched")
  }
}
