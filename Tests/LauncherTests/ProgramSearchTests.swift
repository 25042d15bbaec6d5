import TestSupport
import Testing

@testable import Launcher

@Suite struct `Programs are found as a shell finds them` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.folder("first")
    try folder.folder("second")
    try folder.write("first/plain", "", mode: 0o644)
    try folder.write("second/plain", "", mode: 0o755)
    try folder.write("second/tool", "", mode: 0o755)
  }

  private var path: String { "relative:\(folder.path)/missing:\(folder.path)/first:\(folder.path)/second" }

  @Test func `on the path, the first that can be run`() throws {
    #expect(try ProgramSearch.find("tool", path: path) == "\(folder.path)/second/tool")
    #expect(try ProgramSearch.find("plain", path: path) == "\(folder.path)/second/plain")
  }

  @Test func `by a path as it is, made normal`() throws {
    #expect(try ProgramSearch.find("\(folder.path)/./first/..//second/tool", path: nil) == "\(folder.path)/second/tool")
  }

  @Test(arguments: [("missing", 127), ("./missing-here", 127)] as [(String, Int32)])
  func `what is not there is 127`(program: String, status: Int32) throws {
    let failure = #expect(throws: Failure.self) { try ProgramSearch.find(program, path: path) }
    #expect(failure?.status == status)
  }

  @Test func `what cannot be run is 126`() throws {
    for name in ["first/plain", "first"] {
      let failure = #expect(throws: Failure.self) { try ProgramSearch.find("\(folder.path)/\(name)", path: path) }
      #expect(failure?.status == 126)
      #expect(failure?.description.contains(name) == true)
    }
  }

  @Test(arguments: [("/", "/"), ("/a/../..", "/"), ("/a/./b//c/", "/a/b/c"), ("/../a", "/a")])
  func `a normal path has no dots and no doubled slashes`(path: String, normal: String) {
    #expect(ProgramSearch.normal(path) == normal)
  }
}
