internal import Folders
package import PickerUI

extension PreviewProgram {
  /// `ambit-tools`, where it lies beside this program.
  package static var ofAmbit: PreviewProgram? {
    Programs.tools.path.map { PreviewProgram(path: $0, words: ["ambit", "preview-pane"]) }
  }
}
