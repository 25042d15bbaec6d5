import Paths
import Testing

@Suite struct `Escaped bytes` {
  @Test(arguments: [ByteEscape.percent(keeping: "-._~/"), .percent(keeping: ""), .name])
  func `come back, all of them`(escape: ByteEscape) {
    let all = Array(UInt8.min...UInt8.max)
    let text = escape.escaped(all)
    #expect(escape.bytes(of: text.utf8) == all)
    #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
  }

  @Test func `have the letters of their kind`() {
    #expect(ByteEscape.percent(keeping: "/").escaped("/a B\n".utf8) == "/a%20B%0A")
    #expect(ByteEscape.name.escaped("/a B\n".utf8) == "_2fa_20_42_0a")
  }

  @Test(arguments: ["%", "%2", "%2g", "%+f", "a%-1"])
  func `are none where a mark begins no byte`(text: String) {
    #expect(ByteEscape.percent(keeping: "").bytes(of: text.utf8) == nil)
  }
}
