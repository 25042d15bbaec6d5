import Testing
import UserFiles

@Suite struct `BMK-11: what lies in a trash` {
  private let rule = TrashRule(dataHomes: ["/home/a/.local/share", "/data"], user: 1000)
  private let mounts: Set<String> = ["/", "/media/stick", "/media/a b"]

  @Test(arguments: [
    ("/home/a/.local/share/Trash/files/letter.txt", true), ("/data/Trash/files/x/y", true),
    ("/home/a/.local/share/Trash/info/letter.txt.trashinfo", false), ("/home/a/.local/share/Trash/files", false),
    ("/home/b/.local/share/Trash/files/letter.txt", false), ("/home/a/.local/share/Trash/filesystem/x", false),
    ("/media/stick/.Trash-1000/files/letter.txt", true), ("/media/stick/.Trash/1000/files/letter.txt", true),
    ("/.Trash-1000/files/x", true), ("/media/a b/.Trash-1000/files/x", true),
    ("/media/stick/.Trash-1001/files/letter.txt", false), ("/media/stick/.Trash/1001/files/letter.txt", false),
    ("/media/stick/Papers/.Trash-1000/files/x", false), ("/media/other/.Trash-1000/files/x", false),
    ("/media/stick/.Trash-1000/files", false), ("/media/stick/.Trash/files/x", false), ("", false), ("/", false),
  ])
  func `is told by its path`(path: String, expected: Bool) {
    #expect(rule.holds(path) { mounts.contains($0.isEmpty ? "/" : $0) } == expected)
  }
}
