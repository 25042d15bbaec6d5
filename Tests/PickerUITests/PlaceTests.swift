import Testing

@testable import PickerUI

@Suite struct `Other apps' documents in the picker` {
  @Test func `SBX-6: Ctrl-O goes from one to the next, and says whose they are`() {
    var asked = request()
    let places = ["Notes", "Ed\u{1b}it"].map { PickerRequest.Place(name: $0, path: "/c/\($0)/Documents") }
    asked.places = places
    var picker = model(asked, entries("a.txt"))
    for expected in [places[0], places[1], places[0]] { #expect(picker.press(.control("o")) == .place(expected)) }
    #expect(picker.message == "The documents of “Notes”.")
    _ = picker.press(.control("o"))
    #expect(picker.message?.contains("\u{1b}") == false)
    var none = model(request(), entries("a.txt"))
    #expect(none.press(.control("o")) == nil && none.message?.contains("No other app") == true)
  }
}
