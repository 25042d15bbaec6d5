import Glibc
import Kernel
import ScopedAccess

// Saves a document in a way that is asked for, so that its system calls can be recorded (`make crashes`).
//
//   document-saver in-place DOCUMENT NEW RECOVERY
//   document-saver maps      makes identity maps until it is killed

/// As the broker saves while another program waits for the document.
func saveInPlace(_ document: String, by new: String, keepingIn recovery: String) throws {
  let file = try Descriptor.open(document, flags: .readWrite)
  let save = try InPlaceSave(
    of: file, FileIdentity(of: file), at: document, by: Descriptor.open(new, flags: .read),
    keepingIn: Descriptor.open(recovery, flags: [.read, .directory]))
  try save.carryOut()
}

/// - Throws: where none can be made.
func makeMaps() throws {
  _ = unsafe write(1, "ready\n", 6)
  while true { _ = try IdentityMap(diskUser: geteuid(), diskGroup: getegid(), shownAs: 1000) }
}

let arguments = Array(ThisProcess.arguments.dropFirst())
if arguments == ["maps"] {
  do { try makeMaps() } catch {
    print("document-saver: \(error)")
    exit(1)
  }
}
guard arguments.count == 4, arguments[0] == "in-place" else {
  print("usage: document-saver in-place DOCUMENT NEW RECOVERY")
  exit(64)
}
do { try saveInPlace(arguments[1], by: arguments[2], keepingIn: arguments[3]) } catch {
  print("document-saver: \(error)")
  exit(1)
}
