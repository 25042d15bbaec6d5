import Testing

@testable import Kernel

@Suite struct `The mount table` {
  private static let entries: [MountTable.Entry] = [
    .init(point: "/", fileSystem: "ext4"), .init(point: "/home", fileSystem: "xfs"),
    .init(point: "/net", fileSystem: "autofs"), .init(point: "/net/server", fileSystem: "nfs4"),
    .init(point: "/media/stick", fileSystem: "autofs"), .init(point: "/media/stick", fileSystem: "vfat"),
    .init(point: "/media/card", fileSystem: "autofs"), .init(point: "/mnt/sshfs", fileSystem: "fuse.sshfs"),
  ]

  /// BMK-10: what lies below an automounter and on nothing that is mounted would be mounted by looking.
  @Test(arguments: [
    ("/", "ext4"), ("/homes/a", "ext4"), ("/home", "xfs"), ("/home/a/b", "xfs"), ("/net/other/x", "autofs"),
    ("/net/server/x", "nfs4"), ("/net/servers/x", "autofs"), ("/media/stick/x", "vfat"), ("/media/card/x", "autofs"),
  ])
  func `BMK-10: tells what a path lies on`(path: String, fileSystem: String) {
    #expect(MountTable.covering(path, in: Self.entries)?.fileSystem == fileSystem)
  }

  @Test func `BMK-16: names what may keep one waiting`() {
    #expect(Self.entries.filter { !$0.mayWait }.map(\.fileSystem) == ["ext4", "xfs", "vfat"])
  }

  @Test(arguments: [
    ("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw,errors=continue", "/mnt 2", "ext3"),
    ("36 35 98:0 / / rw - tmpfs none rw", "/", "tmpfs"),
    ("36 35 98:0 / /a rw shared:1 master:2 - fuse.x - rw", "/a", "fuse.x"),
  ])
  func `reads a line as proc(5) has it`(line: String, point: String, fileSystem: String) {
    #expect(MountTable.entry(Array(line.utf8)[...]) == .init(point: point, fileSystem: fileSystem))
  }

  @Test func `TOK-16: tells what lies in a mount, at any depth and in whatever order, and nothing else`() {
    let table = """
      40 30 0:9 / /a/b/c\\040d rw - tmpfs none rw
      30 20 8:1 / /a/b rw - ext4 /dev/sda1 rw
      20 1 8:2 / /a rw shared:1 - ext4 /dev/sda2 rw
      50 1 0:10 / /a/bc rw - tmpfs none rw
      60 20 259:7 / /a/e rw - ext4 /dev/x rw
      1 1 0:1 / / rw - rootfs none rw
      """
    func inner(_ mount: UInt64) -> [MountTable.Inner] { MountTable.inner(of: mount, in: Array(table.utf8)) }
    #expect(inner(30) == [.init(number: 40, device: 9, path: "c d")])
    #expect(Set(inner(20).map(\.path)) == ["b", "b/c d", "e"] && inner(20).count == 3)
    #expect(inner(60) == [] && inner(99) == [])
    #expect(inner(1).count == 5)
    #expect(inner(20).first { $0.path == "e" }?.device == 259 << 32 | 7)
  }

  @Test func `what is no line is none`() {
    for line in ["", "1 2 3", "36 35 98:0 / /a rw shared:1", "36 35 98:0 / /a rw -"] {
      #expect(MountTable.entry(Array(line.utf8)[...]) == nil, "\(line)")
    }
  }

  @Test func `has this process's own root`() {
    #expect(MountTable.covering("/", in: MountTable.entries()) != nil)
  }

  @Test func `The device of a mount is told by its number, and by nothing that looks like it`() {
    let table = Array(
      """
      36 25 0:66 /a b /mnt rw shared:1 - btrfs /dev/loop2 rw
      6 36 254:1 / /36 rw - ext4 /dev/vda rw
      7 36 x:1 / /36 rw - ext4 /dev/vda rw

      """.utf8)
    #expect(MountTable.device(ofMount: Array("36".utf8), in: table) == 66)
    #expect(MountTable.device(ofMount: Array("6".utf8), in: table) == 254 << 32 | 1)
    for mount in ["7", "3", "25", "", "366"] {
      #expect(MountTable.device(ofMount: Array(mount.utf8), in: table) == nil)
    }
  }
}
