import Foundation
import Kernel
import TestSupport

/// File systems of programs that the tests run as root: one that stops answering, and one that mounts when it is asked.
final class OddFileSystem {
  let point: String
  private let program: ChildProcess

  /// `/dev/fuse` and `/dev/autofs` are root's to mount; a file system of a program's is shown with other ids since Linux 6.12.
  static let isPossible =
    geteuid() == 0 && KernelVersion.current >= KernelVersion(6, 12)
    && ["/dev/fuse", "/usr/bin/python3"].allSatisfy(FileManager.default.isReadableFile(atPath:))
  static let mountsOnDemand =
    geteuid() == 0
    && ["/usr/bin/python3", "/usr/sbin/mkfs.ext4"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
    && ((try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8))?.contains("\tautofs\n") ?? false)

  private init(_ script: String, in world: Workspace, at point: String, _ arguments: [String]) throws {
    self.point = point
    try world.makeFolder(point)
    program = try ChildProcess(
      ["/usr/bin/python3", "-I", "-c", script, point] + arguments, user: .root, environment: world.environment,
      directory: "/")
    let line = try program.readLine()
    guard line == "ready" else { throw program.seen("said “\(line)”") }
  }

  /// One file, `letter.txt`, of the user's. While the file `silence` is there nobody gets an answer.
  static func answering(in world: Workspace, at point: String, silence: String) throws -> OddFileSystem {
    try OddFileSystem(server, in: world, at: point, [silence, "\(world.user.id)"])
  }

  /// Mounts what is in an image at `disk` in this folder, whenever somebody looks at it.
  static func mountingOnDemand(in world: Workspace, at point: String, image: String) throws -> OddFileSystem {
    try OddFileSystem(automounter, in: world, at: point, [image])
  }

  /// Tells the automounter something, and answers what it says.
  func tell(_ text: String) throws -> String {
    try program.send(text + "\n")
    return try program.readLine()
  }

  /// How often something was mounted because somebody looked.
  func mounts() throws -> Int { Int(try tell("count")) ?? -1 }

  /// The server ends; who waits for it gets an error.
  func end() {
    program.kill()
    _ = unsafe umount2("\(point)/disk", Int32(MNT_DETACH))
    _ = unsafe umount2(point, Int32(MNT_DETACH))
  }

  deinit { end() }

  /// FUSE as the kernel speaks it (linux/fuse.h), version 7.31.
  private static let server = #"""
    import ctypes, os, select, struct, sys
    point, silence, owner = sys.argv[1], sys.argv[2], int(sys.argv[3])
    text = b'text'
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open('/dev/fuse', os.O_RDWR)
    options = f'fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions'
    if libc.mount(b'fuse', point.encode(), b'fuse', 6, options.encode()): sys.exit(os.strerror(ctypes.get_errno()))
    print('ready', flush=True)
    def attributes(node):
        mode, size = (0o040755, 0) if node == 1 else (0o100644, len(text))
        return struct.pack('<6Q10I', node, size, 1, 1, 1, 1, 0, 0, 0, mode, 1, owner, owner, 0, 4096, 0)
    def answer(code, node, body):
        if code == 26:
            return struct.pack('<4I2H2I2H8I', 7, 31, 65536, 1 << 30, 12, 9, 65536, 1, 16, 0, 1 << 8, *[0] * 7)
        if code == 1:
            if node != 1 or body.rstrip(b'\0') != b'letter.txt': return -2
            return struct.pack('<4Q2I', 2, 7, 0, 0, 0, 0) + attributes(2)
        if code == 3: return struct.pack('<Q2I', 0, 0, 0) + attributes(node)
        if code in (14, 27): return struct.pack('<Q2I', 0, 0, 0)
        if code in (15, 28):
            offset, size = struct.unpack_from('<QQI', body)[1:]
            if code == 15: return text[offset:offset + size]
            return b'' if offset else struct.pack('<QQII', 2, 1, 10, 8) + b'letter.txt' + b'\0' * 6
        if code == 17: return struct.pack('<5Q10I', 1, 1, 1, 1, 1, 4096, 255, 4096, *[0] * 7)
        if code in (18, 25, 29, 34): return b''
        return -38
    pending = []
    while True:
        if select.select([fd], [], [], 0.05)[0]:
            try: request = os.read(fd, 1 << 20)
            except OSError: break
            if struct.unpack_from('<I', request, 4)[0] not in (2, 36, 42): pending.append(request)
        while pending and not os.path.exists(silence):
            request = pending.pop(0)
            _, code, unique, node = struct.unpack_from('<IIQQ', request)
            body = answer(code, node, request[40:])
            error, body = (body, b'') if isinstance(body, int) else (0, body)
            try: os.write(fd, struct.pack('<IiQ', 16 + len(body), error, unique) + body)
            except OSError: pass
    """#

  /// autofs as the kernel speaks it (linux/auto_fs.h), version 5, an indirect mount.
  private static let automounter = #"""
    import ctypes, fcntl, os, select, struct, subprocess, sys
    point, image = sys.argv[1:3]
    libc = ctypes.CDLL(None, use_errno=True)
    reading, writing = os.pipe()
    options = f'fd={writing},pgrp={os.getpgrp()},minproto=5,maxproto=5,indirect'
    if libc.mount(b'auto', point.encode(), b'autofs', 0, options.encode()): sys.exit(os.strerror(ctypes.get_errno()))
    os.close(writing)
    root = os.open(point, os.O_RDONLY)
    print('ready', flush=True)
    count = 0
    while True:
        ready = select.select([reading, 0], [], [])[0]
        if reading in ready:
            packet = os.read(reading, 304)
            _, kind, token = struct.unpack_from('<iiI', packet)
            length, = struct.unpack_from('<I', packet, 40)
            done = kind == 3 and packet[44:44 + length] == b'disk'
            if done:
                count += 1
                os.makedirs(point + '/disk', exist_ok=True)
                done = not subprocess.run(['mount', '-o', 'loop', image, point + '/disk']).returncode
            fcntl.ioctl(root, 0x9360 if done else 0x9361, token)
        if 0 in ready:
            line = os.read(0, 100).strip()
            if not line: break
            if line == b'unmount':
                subprocess.run(['umount', point + '/disk'], check=True)
                os.rmdir(point + '/disk')
            print(count, flush=True)
    """#
}
