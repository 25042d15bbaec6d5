import AmbitKit
import Foundation

/// The provider's own picker: a list of its documents, or a fault of it.
final class TestPicker: UIDocumentPickerExtensionViewController, @unchecked Sendable {
  override func prepareForPresentation(in mode: UIDocumentPickerMode) {
    var rows = TestProvider.contents.map { FPUIForm.Field.Row($0.identifier, $0.name, detail: "\($0.size) bytes") }
    if TestProvider.behaviour == "crowded" { rows = (0..<300).map { FPUIForm.Field.Row("\($0)", "Row \($0)") } }
    let asked = "\(mode == .open ? "open" : "import") \(validTypes?.joined(separator: ",") ?? "any")"
    present(
      FPUIForm(
        title: asked, fields: [.init("items", "Documents", .rows(rows, several: allowsMultipleSelection))],
        buttons: [.init("go", "Choose")]))
  }

  override func submit(_ answers: FPUIFormAnswers) {
    let storage = URL(fileURLWithPath: NSHomeDirectory())
    switch TestProvider.behaviour {
    case "outside": dismissGrantingAccess(to: URL(fileURLWithPath: "/etc/hostname"))
    case "invents": dismissGrantingAccess(to: storage.appendingPathComponent("invented.txt"))
    default:
      guard !answers.rows("items").isEmpty else {
        return refuse(NSFileProviderError(.noSuchItem, "Choose a document first."))
      }
      dismissGrantingAccess(
        to: answers.rows("items").compactMap {
          provider?.urlForItem(withPersistentIdentifier: NSFileProviderItemIdentifier($0))
        })
    }
  }

  override func dismissed() { TestProvider.remember("dismissed") }
}
