import Foundation
import Scenario
import Testing

@Suite struct FormatterTests {
  @Test func `actions get a line each, comments and values stay`() throws {
    let text = """
      title="t"   # the title


      # about the step
      [[ step ]]
      say='''
      a
      b'''
      do=[{write="a",content="# no comment"},   # first
      {read='a',expect={equals="b",lines=1}}]
      """
    let formatted = try ScenarioFormatter.format(text, file: "t.toml")
    #expect(
      formatted == """
        title = "t"  # the title

        # about the step
        [[step]]
        say = '''
        a
        b'''
        do = [
          { write = "a", content = "# no comment" },
          # first
          { read = 'a', expect = { equals = "b", lines = 1 } },
        ]

        """)
    #expect(try ScenarioFormatter.format(formatted, file: "t.toml") == formatted)
  }

  @Test func `what is no TOML is refused with its place`() throws {
    let error = try #require(throws: ScenarioError.self) { try ScenarioFormatter.format("a = [", file: "t.toml") }
    #expect(error.place != nil)
  }

  @Test func `every shipped scenario has the usual layout`() throws {
    let top = URL(fileURLWithPath: "\(#filePath)/../../..").standardizedFileURL.path
    let suite = "\(top)/Conformance"
    let files = try FileManager.default.subpathsOfDirectory(atPath: suite)
      .filter { $0.contains("/") && $0.hasSuffix(".toml") }
    #expect(files.count > 100)
    for file in files {
      let text = try String(contentsOfFile: "\(suite)/\(file)", encoding: .utf8)
      #expect(try ScenarioFormatter.format(text, file: file) == text, "\(file): ambit scenario format")
    }
  }
}
