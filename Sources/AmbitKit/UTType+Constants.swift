/// The types that have a name in Swift.
extension UTType {
  /// Item.
  public static let item = UTType(importedAs: "public.item")
  /// Content.
  public static let content = UTType(importedAs: "public.content")
  /// Compound document.
  public static let compositeContent = UTType(importedAs: "public.composite-content")
  /// Disk image.
  public static let diskImage = UTType(importedAs: "public.disk-image")
  /// Data.
  public static let data = UTType(importedAs: "public.data")
  /// Directory.
  public static let directory = UTType(importedAs: "public.directory")
  /// Resolvable item.
  public static let resolvable = UTType(importedAs: "com.apple.resolvable")
  /// Symbolic link.
  public static let symbolicLink = UTType(importedAs: "public.symlink")
  /// Executable.
  public static let executable = UTType(importedAs: "public.executable")
  /// Mount point.
  public static let mountPoint = UTType(importedAs: "com.apple.mount-point")
  /// Alias.
  public static let aliasFile = UTType(importedAs: "com.apple.alias-file")
  /// Bookmark data.
  public static let urlBookmarkData = UTType(importedAs: "com.apple.bookmark")
  /// URL.
  public static let url = UTType(importedAs: "public.url")
  /// File URL.
  public static let fileURL = UTType(importedAs: "public.file-url")
  /// Text.
  public static let text = UTType(importedAs: "public.text")
  /// Plain text.
  public static let plainText = UTType(importedAs: "public.plain-text")
  /// UTF-8 text.
  public static let utf8PlainText = UTType(importedAs: "public.utf8-plain-text")
  /// UTF-16 text with a byte order mark.
  public static let utf16ExternalPlainText = UTType(importedAs: "public.utf16-external-plain-text")
  /// UTF-16 text.
  public static let utf16PlainText = UTType(importedAs: "public.utf16-plain-text")
  /// Table as text.
  public static let delimitedText = UTType(importedAs: "public.delimited-values-text")
  /// Table with commas.
  public static let commaSeparatedText = UTType(importedAs: "public.comma-separated-values-text")
  /// Table with tabs.
  public static let tabSeparatedText = UTType(importedAs: "public.tab-separated-values-text")
  /// Table with tabs (UTF-8).
  public static let utf8TabSeparatedText = UTType(importedAs: "public.utf8-tab-separated-values-text")
  /// Formatted text.
  public static let rtf = UTType(importedAs: "public.rtf")
  /// Web page.
  public static let html = UTType(importedAs: "public.html")
  /// XML.
  public static let xml = UTType(importedAs: "public.xml")
  /// YAML.
  public static let yaml = UTType(importedAs: "public.yaml")
  /// Style sheet.
  public static let css = UTType(importedAs: "public.css")
  /// Source code.
  public static let sourceCode = UTType(importedAs: "public.source-code")
  /// Assembly source.
  public static let assemblyLanguageSource = UTType(importedAs: "public.assembly-source")
  /// C source.
  public static let cSource = UTType(importedAs: "public.c-source")
  /// Objective-C source.
  public static let objectiveCSource = UTType(importedAs: "public.objective-c-source")
  /// Swift source.
  public static let swiftSource = UTType(importedAs: "public.swift-source")
  /// C++ source.
  public static let cPlusPlusSource = UTType(importedAs: "public.c-plus-plus-source")
  /// Objective-C++ source.
  public static let objectiveCPlusPlusSource = UTType(importedAs: "public.objective-c-plus-plus-source")
  /// C header.
  public static let cHeader = UTType(importedAs: "public.c-header")
  /// C++ header.
  public static let cPlusPlusHeader = UTType(importedAs: "public.c-plus-plus-header")
  /// Script.
  public static let script = UTType(importedAs: "public.script")
  /// AppleScript.
  public static let appleScript = UTType(importedAs: "com.apple.applescript.text")
  /// Compiled script.
  public static let osaScript = UTType(importedAs: "com.apple.applescript.script")
  /// Script bundle.
  public static let osaScriptBundle = UTType(importedAs: "com.apple.applescript.script-bundle")
  /// JavaScript.
  public static let javaScript = UTType(importedAs: "com.netscape.javascript-source")
  /// Shell script.
  public static let shellScript = UTType(importedAs: "public.shell-script")
  /// Perl script.
  public static let perlScript = UTType(importedAs: "public.perl-script")
  /// Python script.
  public static let pythonScript = UTType(importedAs: "public.python-script")
  /// Ruby script.
  public static let rubyScript = UTType(importedAs: "public.ruby-script")
  /// PHP script.
  public static let phpScript = UTType(importedAs: "public.php-script")
  /// Makefile.
  public static let makefile = UTType(importedAs: "public.make-source")
  /// JSON.
  public static let json = UTType(importedAs: "public.json")
  /// Property list.
  public static let propertyList = UTType(importedAs: "com.apple.property-list")
  /// Property list (XML).
  public static let xmlPropertyList = UTType(importedAs: "com.apple.xml-property-list")
  /// Property list (binary).
  public static let binaryPropertyList = UTType(importedAs: "com.apple.binary-property-list")
  /// PDF document.
  public static let pdf = UTType(importedAs: "com.adobe.pdf")
  /// Formatted text with pictures.
  public static let rtfd = UTType(importedAs: "com.apple.rtfd")
  /// Formatted text with pictures (one file).
  public static let flatRTFD = UTType(importedAs: "com.apple.flat-rtfd")
  /// Web archive.
  public static let webArchive = UTType(importedAs: "com.apple.webarchive")
  /// Image.
  public static let image = UTType(importedAs: "public.image")
  /// JPEG image.
  public static let jpeg = UTType(importedAs: "public.jpeg")
  /// TIFF image.
  public static let tiff = UTType(importedAs: "public.tiff")
  /// GIF image.
  public static let gif = UTType(importedAs: "com.compuserve.gif")
  /// PNG image.
  public static let png = UTType(importedAs: "public.png")
  /// Icon (macOS).
  public static let icns = UTType(importedAs: "com.apple.icns")
  /// Bitmap image.
  public static let bmp = UTType(importedAs: "com.microsoft.bmp")
  /// Icon (Windows).
  public static let ico = UTType(importedAs: "com.microsoft.ico")
  /// Raw image of a camera.
  public static let rawImage = UTType(importedAs: "public.camera-raw-image")
  /// SVG image.
  public static let svg = UTType(importedAs: "public.svg-image")
  /// Live photo.
  public static let livePhoto = UTType(importedAs: "com.apple.live-photo")
  /// HEIF image.
  public static let heif = UTType(importedAs: "public.heif-standard")
  /// HEIC image.
  public static let heic = UTType(importedAs: "public.heic")
  /// WebP image.
  public static let webP = UTType(importedAs: "org.webmproject.webp")
  /// OpenEXR image.
  public static let exr = UTType(importedAs: "com.ilm.openexr-image")
  /// JPEG XL image.
  public static let jpegxl = UTType(importedAs: "public.jpeg-xl")
  /// Raw image (DNG).
  public static let dng = UTType(importedAs: "com.adobe.raw-image")
  /// 3D model.
  public static let threeDContent = UTType(importedAs: "public.3d-content")
  /// 3D scene.
  public static let usd = UTType(importedAs: "com.pixar.universal-scene-description")
  /// 3D scene (one file).
  public static let usdz = UTType(importedAs: "com.pixar.universal-scene-description-mobile")
  /// Reality file.
  public static let realityFile = UTType(importedAs: "com.apple.reality")
  /// SceneKit scene.
  public static let sceneKitScene = UTType(importedAs: "com.apple.scenekit.scene")
  /// Reference object.
  public static let arReferenceObject = UTType(importedAs: "com.apple.arobject")
  /// Audiovisual content.
  public static let audiovisualContent = UTType(importedAs: "public.audiovisual-content")
  /// Movie.
  public static let movie = UTType(importedAs: "public.movie")
  /// Video.
  public static let video = UTType(importedAs: "public.video")
  /// Audio.
  public static let audio = UTType(importedAs: "public.audio")
  /// QuickTime movie.
  public static let quickTimeMovie = UTType(importedAs: "com.apple.quicktime-movie")
  /// MPEG movie.
  public static let mpeg = UTType(importedAs: "public.mpeg")
  /// MPEG-2 video.
  public static let mpeg2Video = UTType(importedAs: "public.mpeg-2-video")
  /// MPEG-2 stream.
  public static let mpeg2TransportStream = UTType(importedAs: "public.mpeg-2-transport-stream")
  /// MP3 audio.
  public static let mp3 = UTType(importedAs: "public.mp3")
  /// MPEG-4 movie.
  public static let mpeg4Movie = UTType(importedAs: "public.mpeg-4")
  /// MPEG-4 audio.
  public static let mpeg4Audio = UTType(importedAs: "public.mpeg-4-audio")
  /// Protected audio.
  public static let appleProtectedMPEG4Audio = UTType(importedAs: "com.apple.protected-mpeg-4-audio")
  /// Protected movie.
  public static let appleProtectedMPEG4Video = UTType(importedAs: "com.apple.protected-mpeg-4-video")
  /// AVI movie.
  public static let avi = UTType(importedAs: "public.avi")
  /// AIFF audio.
  public static let aiff = UTType(importedAs: "public.aiff-audio")
  /// Waveform audio.
  public static let wav = UTType(importedAs: "com.microsoft.waveform-audio")
  /// MIDI.
  public static let midi = UTType(importedAs: "public.midi-audio")
  /// Playlist.
  public static let playlist = UTType(importedAs: "public.playlist")
  /// Playlist (M3U).
  public static let m3uPlaylist = UTType(importedAs: "public.m3u-playlist")
  /// Folder.
  public static let folder = UTType(importedAs: "public.folder")
  /// Volume.
  public static let volume = UTType(importedAs: "public.volume")
  /// Package.
  public static let package = UTType(importedAs: "com.apple.package")
  /// Bundle.
  public static let bundle = UTType(importedAs: "com.apple.bundle")
  /// Plug-in.
  public static let pluginBundle = UTType(importedAs: "com.apple.plugin")
  /// Metadata importer.
  public static let spotlightImporter = UTType(importedAs: "com.apple.metadata-importer")
  /// Preview generator.
  public static let quickLookGenerator = UTType(importedAs: "com.apple.quicklook-generator")
  /// Service.
  public static let xpcService = UTType(importedAs: "com.apple.xpc-service")
  /// Framework.
  public static let framework = UTType(importedAs: "com.apple.framework")
  /// Application.
  public static let application = UTType(importedAs: "com.apple.application")
  /// Application.
  public static let applicationBundle = UTType(importedAs: "com.apple.application-bundle")
  /// Application extension.
  public static let applicationExtension = UTType(importedAs: "com.apple.application-and-system-extension")
  /// Program.
  public static let unixExecutable = UTType(importedAs: "public.unix-executable")
  /// Windows program.
  public static let exe = UTType(importedAs: "com.microsoft.windows-executable")
  /// Settings pane.
  public static let systemPreferencesPane = UTType(importedAs: "com.apple.systempreference.prefpane")
  /// Archive.
  public static let archive = UTType(importedAs: "public.archive")
  /// Gzip archive.
  public static let gzip = UTType(importedAs: "org.gnu.gnu-zip-archive")
  /// Bzip2 archive.
  public static let bz2 = UTType(importedAs: "public.bzip2-archive")
  /// ZIP archive.
  public static let zip = UTType(importedAs: "public.zip-archive")
  /// Apple archive.
  public static let appleArchive = UTType(importedAs: "com.apple.archive")
  /// Tar archive.
  public static let tarArchive = UTType(importedAs: "public.tar-archive")
  /// Spreadsheet.
  public static let spreadsheet = UTType(importedAs: "public.spreadsheet")
  /// Presentation.
  public static let presentation = UTType(importedAs: "public.presentation")
  /// Database.
  public static let database = UTType(importedAs: "public.database")
  /// Message.
  public static let message = UTType(importedAs: "public.message")
  /// Contact.
  public static let contact = UTType(importedAs: "public.contact")
  /// Contact (vCard).
  public static let vCard = UTType(importedAs: "public.vcard")
  /// To-do item.
  public static let toDoItem = UTType(importedAs: "public.to-do-item")
  /// Calendar event.
  public static let calendarEvent = UTType(importedAs: "public.calendar-event")
  /// E-mail message.
  public static let emailMessage = UTType(importedAs: "public.email-message")
  /// Internet location.
  public static let internetLocation = UTType(importedAs: "com.apple.internet-location")
  /// Web shortcut.
  public static let internetShortcut = UTType(importedAs: "com.microsoft.internet-shortcut")
  /// Font.
  public static let font = UTType(importedAs: "public.font")
  /// Bookmark.
  public static let bookmark = UTType(importedAs: "public.bookmark")
  /// Certificates with keys.
  public static let pkcs12 = UTType(importedAs: "com.rsa.pkcs-12")
  /// Certificate.
  public static let x509Certificate = UTType(importedAs: "public.x509-certificate")
  /// Electronic book.
  public static let epub = UTType(importedAs: "org.idpf.epub-container")
  /// Log.
  public static let log = UTType(importedAs: "public.log")
  /// Haptic pattern.
  public static let ahap = UTType(importedAs: "com.apple.haptics.ahap")
  /// Geographic data.
  public static let geoJSON = UTType(importedAs: "public.geojson")
  /// Link preview.
  public static let linkPresentationMetadata = UTType(importedAs: "com.apple.linkpresentation.metadata")
}
