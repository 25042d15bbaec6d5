import Testing

@testable import PickerUI

@Suite struct `Packages in the picker` {
  private func asking(
    _ kind: PickerRequest.Kind = .file, types: [String]? = nil, multiple: Bool = false
  ) -> PickerRequest {
    var asked = request(multiple: multiple, kind: kind, types: types)
    asked.packages = ["rtfd", "pages"]
    return asked
  }

  private let folder = entries("Zoo/", "a.txt", "Letter.rtfd/", "b.Pages/", ".rtfd/", "c.rtfd")

  @Test func `a package stands among the files and is chosen as one, never entered`() {
    var picker = model(asking(), folder)
    #expect(picker.rowNames == ["Zoo", "a.txt", "b.Pages", "c.rtfd", "Letter.rtfd"])
    picker.type("letter")
    #expect(picker.press(.enter) == .pick(.entry(FileName("Letter.rtfd"))))
    #expect(picker.press(.right) == nil)
    // The control: a folder is entered, and so is this one where nobody knows the type.
    var other = model(request(), folder)
    other.type("letter")
    #expect(other.press(.enter) == .enter(FileName("Letter.rtfd")))
  }

  @Test func `PCK-7: by its type like any file`() {
    let rule = ChoiceRule(asking(types: ["rtfd"]))
    #expect(rule.allows(.package, named: "Letter.rtfd") && !rule.allows(.package, named: "b.pages"))
    #expect(!ChoiceRule(asking(types: ["txt"])).allows(.package, named: "Letter.rtfd"))
    #expect(ChoiceRule(asking()).allows(.package, named: "Letter.rtfd"))
    #expect(rule.kind(ofFolder: "Letter.RTFD") == .package && rule.kind(ofFolder: ".rtfd") == .folder)
  }

  @Test func `who asks for a folder is not given a package`() {
    var picker = model(asking(.folder), folder)
    picker.type("letter")
    #expect(picker.press(.enter) == nil)
    #expect(picker.message?.contains("one document") == true)
  }

  @Test func `it is shown without a slash, and shown again after hidden names were`() {
    var picker = model(asking(multiple: true), folder)
    #expect(picker.press(.control("h")) == nil)
    #expect(picker.rowNames.contains(".rtfd"))
    let index = picker.rowNames.firstIndex(of: "Letter.rtfd") ?? 0
    let line = Rows(model: picker, columns: 80, now: 0, home: nil).line(index)
    #expect(line.plain.contains("Letter.rtfd") && !line.plain.contains("Letter.rtfd/"))
  }
}
