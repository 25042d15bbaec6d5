import Foundation
import Testing

@testable import AmbitCommands

/// Times as tables have them, and back.
@Suite struct `Local times` {
  @Test func `are the same moment, and lead back to it`() throws {
    // In the middle of a winter and of a summer: no zone changes its clock there.
    for text in ["2025-01-15T12:30:45Z", "2025-07-15T12:30:45Z"] {
      let date = try #require(try? Date(text, strategy: .iso8601))
      let local = LocalTime.seconds(date)
      #expect(LocalTime.utc(local.replacing(" ", with: "T")) == text)
      #expect(LocalTime.seconds(text.replacing("Z", with: ".000Z")) == local)
      #expect(LocalTime.minutes(text.replacing("Z", with: ".000Z")) == local.dropLast(3))
    }
  }

  @Test func `what is no time is left as it is`() {
    #expect(LocalTime.seconds("never") == "never" && LocalTime.minutes("never") == "never")
    #expect(LocalTime.utc("never") == nil && LocalTime.utc("") == nil)
  }
}
