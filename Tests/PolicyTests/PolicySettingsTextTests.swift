import Policy
import Testing

@Suite("Settings as one text")
struct PolicySettingsTextTests {
  @Test("What the log keeps of a policy is read again as it was, for every policy that is built in")
  func builtin() throws {
    let library = PolicyLibrary(directories: [])
    for name in library.names {
      let settings = try library.load(name).settings
      #expect(try PolicySettings(text: settings.text, file: "log") == settings, "\(name): \(settings.text)")
    }
  }

  @Test("Every field is in it, with values that are not the usual ones")
  func fields() throws {
    var settings = PolicySettings.closed
    settings.scopeLimit = 3
    settings.references = false
    settings.startsPicked = true
    settings.outlived = .end
    settings.persisted = .refusing(7)
    settings.passing = .any
    settings.picker.types = .only(["public.text", "tar.gz"])
    settings.picker.folders = false
    settings.access = .readOnly
    settings.lifetime = GrantLifetime(withLaunch: true, seconds: 90)
    settings.bookmarks.create = false
    settings.bookmarks.lifetime = 3600
    settings.replacedDocuments = .refuse
    settings.environmentSet = ["A": "a \"b\"\n\\c"]
    settings.limits.memory = .percent(40)
    #expect(try PolicySettings(text: settings.text, file: "log") == settings, "\(settings.text)")
    for field in PolicyField.all where field.text(in: settings) != nil {
      #expect(settings.text.contains("\(field.name) = "))
    }
  }
}
