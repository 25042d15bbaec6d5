import Kernel
import SystemPackage
import TestSupport
import Testing

@Suite struct `Contents of placeholders` {
  @Test func `PRV-16: of a content with another size than was promised nothing is copied`() throws {
    let temporary = try TemporaryFolder()
    let folder = try Descriptor.open(temporary.path, flags: [.read, .directory])
    _ = try Placeholder.make("a", in: folder, by: nil, size: 3, modified: 0)
    let place = try Descriptor.open("a", below: folder, flags: .place)
    let content = try Descriptor.open(try temporary.write("content", "more"), flags: .read)
    let before = try place.status()
    for size in [3, 5, 0] {
      #expect(throws: KernelError("copy_file_range", errno: .ioError)) {
        try Placeholder.fill(place, with: content, size: size, modified: 0, isWritable: true) { true }
      }
    }
    #expect(try place.status() == before)
    try Placeholder.fill(place, with: content, size: 4, modified: 0, isWritable: true) { true }
    #expect(try place.status().size == 4 && place.status().mode & 0o777 == 0o600)
  }
}
