import Foundation
import Kernel
import SystemPackage
import TestSupport
import Testing

@Suite(
  .ownsMounts, .timeLimit(.minutes(20)),
  .enabled(if: try Feature.keyrings.isHere(Keyrings.support == .present), "needs keyrings"))
struct `A launch and the session's key ring` {
  /// Calls that libc has no function for, by `syscall(2)`, which is variadic and so not to be called from Swift by its name.
  private static func call(_ number: Int, _ first: Int, _ rest: Int...) throws -> Int {
    let symbol = unsafe try #require(dlsym(nil, "syscall"))
    typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int
    let all = rest + [Int](repeating: 0, count: 4 - rest.count)
    return unsafe unsafeBitCast(symbol, to: Call.self)(number, first, all[0], all[1], all[2], all[3])
  }

  #if arch(x86_64)
    private static let (addKey, keyctl) = (248, 250)
  #else
    private static let (addKey, keyctl) = (217, 219)
  #endif
  /// `KEYCTL_JOIN_SESSION_KEYRING`, `KEYCTL_SEARCH`, `KEY_SPEC_SESSION_KEYRING`.
  private static let (join, search, session) = (1, 10, -3)

  private static let script = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.syscall(\(keyctl), \(search), ctypes.c_long(\(session)), b"user", b"ambit-canary", ctypes.c_long(0))
    print("found" if found > 0 else "none %d" % ctypes.get_errno())
    """

  @Test func `F7: a key in the launcher's is not found inside, where no filter stands in the way`() throws {
    // A ring of this thread's alone. The launch inherits from the thread that makes it, which is this one.
    #expect(try Self.call(Self.keyctl, Self.join) > 0)
    let (type, name) = (unsafe strdup("user"), unsafe strdup("ambit-canary"))
    defer {
      unsafe free(type)
      unsafe free(name)
    }
    let (typeAddress, nameAddress) = (Int(bitPattern: type), Int(bitPattern: name))
    let key = try Self.call(Self.addKey, typeAddress, nameAddress, nameAddress, 1, Self.session)
    #expect(key > 0)
    let outcome = try Box("/usr/bin/python3", ["-I", "-c", Self.script]).run()
    #expect(outcome.output == "none \(ENOKEY)\n", "\(outcome)")
    #expect(outcome.keyring == nil)
    // The control: the same search out here.
    #expect(try Self.call(Self.keyctl, Self.search, Self.session, typeAddress, nameAddress) == key)
  }
}
