import Testing

@testable import Folders

@Suite struct `What the system knows of its users` {
  private let text = """
    root:x:0:0:root:/root:/bin/bash
    # a line that is none
    broken:x:5
    ann:x:1000:1000:Ann,,,:/home/ann:/bin/zsh
    relative:x:1001:1001::home:/bin/sh
    ann2:x:1000:1000::/home/second:/bin/sh
    """

  @Test func `the home folder is the first line's for the number`() {
    #expect(UserDirectory.home(of: 0, in: text) == "/root")
    #expect(UserDirectory.home(of: 1000, in: text) == "/home/ann")
  }

  @Test(arguments: [5, 7, 1001] as [UInt32]) func `a user that is not there, or not whole, has none`(user: UInt32) {
    #expect(UserDirectory.home(of: user, in: text) == nil)
  }
}

@Suite struct `Where Ambit's programs are` {
  @Test func `beside each other in a build folder`() {
    #expect(Programs.candidates(for: "ambit-tools", beside: "/b/debug") == ["/b/debug/ambit-tools"])
  }

  @Test func `in bin and libexec of one prefix when installed`() {
    #expect(Programs.candidates(for: "ambit-tools", beside: "/p/bin").last == "/p/libexec/ambit/ambit-tools")
    #expect(Programs.candidates(for: "ambit", beside: "/p/libexec/ambit").last == "/p/bin/ambit")
  }
}
