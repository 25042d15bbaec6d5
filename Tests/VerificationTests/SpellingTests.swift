import Testing

@testable import Verification

@Suite struct `How a file was called` {
  @Test func `E9: what the battery says is read only when it is whole`() {
    let text = "link\t/srv/x-link\tEPERM\nnoise\npath\t/srv/x-path\tok\n"
    #expect(Spelling.read(text) == nil)
    #expect(
      Spelling.read(text + "done\n") == [
        Spelling(name: "link", target: "/srv/x-link", answer: "EPERM"),
        Spelling(name: "path", target: "/srv/x-path", answer: "ok"),
      ])
  }

  @Test func `E9: a refusal counts when what was meant was reported, and an open file never`() {
    let refused = Spelling(name: "link", target: "/srv/x-link", answer: "EPERM")
    #expect(refused.attempt(reported: ["/srv/x-link", "/srv/y"]).outcome == .refused)
    #expect(refused.attempt(reported: ["/home/user/link", "/srv/x"]).outcome == .reached)
    #expect(refused.attempt(reported: []).outcome == .reached)
    let opened = Spelling(name: "link", target: "/srv/x-link", answer: "ok")
    #expect(opened.attempt(reported: ["/srv/x-link"]).outcome == .reached)
  }
}
