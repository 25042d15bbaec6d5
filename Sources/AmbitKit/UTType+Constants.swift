/// The types that have a name in Swift.
extension UTType {
  /// Item.
  public static let item = UTType(constant: "public.item")
  /// Content.
  public static let content = UTType(constant: "public.content")
  /// Compound document.
  public static let compositeContent = UTType(constant: "public.composite-content")
  /// Disk image.
  public static let diskImage = UTType(constant: "public.disk-image")
  /// Data.
  public static let data = UTType(constant: "public.data")
  /// Directory.
  public static let directory = UTType(constant: "public.directory")
  /// Resolvable item.
  public static let resolvable = UTType(constant: "com.apple.resolvable")
  /// Symbolic link.
  public static let symbolicLink = UTType(constant: "public.symlink")
  /// Executable.
  public static let executable = UTType(constant: "public.executable")
  /// Mount point.
  public static let mountPoint = UTType(constant: "com.apple.mount-point")
  /// Alias.
  public static let aliasFile = UTType(constant: "com.apple.alias-file")
  /// Bookmark data.
  public static let urlBookmarkData = UTType(constant: "com.apple.bookmark")
  /// URL.
  public static let url = UTType(constant: "public.url")
  /// File URL.
  public static let fileURL = UTType(constant: "public.file-url")
  /// Text.
  public static let text = UTType(constant: "public.text")
  /// Plain text.
  public static let plainText = UTType(constant: "public.plain-text")
  /// UTF-8 text.
  public static let utf8PlainText = UTType(constant: "public.utf8-plain-text")
  /// UTF-16 text with a byte order mark.
  public static let utf16ExternalPlainText = UTType(constant: "public.utf16-external-plain-text")
  /// UTF-16 text.
  public static let utf16PlainText = UTType(constant: "public.utf16-plain-text")
  /// Table as text.
  public static let delimitedText = UTType(constant: "public.delimited-values-text")
  /// Table with commas.
  public static let commaSeparatedText = UTType(constant: "public.comma-separated-values-text")
  /// Table with tabs.
  public static let tabSeparatedText = UTType(constant: "public.tab-separated-values-text")
  /// Table with tabs (UTF-8).
  public static let utf8TabSeparatedText = UTType(constant: "public.utf8-tab-separated-values-text")
  /// Formatted text.
  public static let rtf = UTType(constant: "public.rtf")
  /// Web page.
  public static let html = UTType(constant: "public.html")
  /// XML.
  public static let xml = UTType(constant: "public.xml")
  /// YAML.
  public static let yaml = UTType(constant: "public.yaml")
  /// Style sheet.
  public static let css = UTType(constant: "public.css")
  /// Source code.
  public static let sourceCode = UTType(constant: "public.source-code")
  /// Assembly source.
  public static let assemblyLanguageSource = UTType(constant: "public.assembly-source")
  /// C source.
  public static let cSource = UTType(constant: "public.c-source")
  /// Objective-C source.
  public static let objectiveCSource = UTType(constant: "public.objective-c-source")
  /// Swift source.
  public static let swiftSource = UTType(constant: "public.swift-source")
  /// C++ source.
  public static let cPlusPlusSource = UTType(constant: "public.c-plus-plus-source")
  /// Objective-C++ source.
  public static let objectiveCPlusPlusSource = UTType(constant: "public.objective-c-plus-plus-source")
  /// C header.
  public static let cHeader = UTType(constant: "public.c-header")
  /// C++ header.
  public static let cPlusPlusHeader = UTType(constant: "public.c-plus-plus-header")
  /// Script.
  public static let script = UTType(constant: "public.script")
  /// AppleScript.
  public static let appleScript = UTType(constant: "com.apple.applescript.text")
  /// Compiled script.
  public static let osaScript = UTType(constant: "com.apple.applescript.script")
  /// Script bundle.
  public static let osaScriptBundle = UTType(constant: "com.apple.applescript.script-bundle")
  /// JavaScript.
  public static let javaScript = UTType(constant: "com.netscape.javascript-source")
  /// Shell script.
  public static let shellScript = UTType(constant: "public.shell-script")
  /// Perl script.
  public static let perlScript = UTType(constant: "public.perl-script")
  /// Python script.
  public static let pythonScript = UTType(constant: "public.python-script")
  /// Ruby script.
  public static let rubyScript = UTType(constant: "public.ruby-script")
  /// PHP script.
  public static let phpScript = UTType(constant: "public.php-script")
  /// Makefile.
  public static let makefile = UTType(constant: "public.make-source")
  /// JSON.
  public static let json = UTType(constant: "public.json")
  /// Property list.
  public static let propertyList = UTType(constant: "com.apple.property-list")
  /// Property list (XML).
  public static let xmlPropertyList = UTType(constant: "com.apple.xml-property-list")
  /// Property list (binary).
  public static let binaryPropertyList = UTType(constant: "com.apple.binary-property-list")
  /// PDF document.
  public static let pdf = UTType(constant: "com.adobe.pdf")
  /// Formatted text with pictures.
  public static let rtfd = UTType(constant: "com.apple.rtfd")
  /// Formatted text with pictures (one file).
  public static let flatRTFD = UTType(constant: "com.apple.flat-rtfd")
  /// Web archive.
  public static let webArchive = UTType(constant: "com.apple.webarchive")
  /// Image.
  public static let image = UTType(constant: "public.image")
  /// JPEG image.
  public static let jpeg = UTType(constant: "public.jpeg")
  /// TIFF image.
  public static let tiff = UTType(constant: "public.tiff")
  /// GIF image.
  public static let gif = UTType(constant: "com.compuserve.gif")
  /// PNG image.
  public static let png = UTType(constant: "public.png")
  /// Icon (macOS).
  public static let icns = UTType(constant: "com.apple.icns")
  /// Bitmap image.
  public static let bmp = UTType(constant: "com.microsoft.bmp")
  /// Icon (Windows).
  public static let ico = UTType(constant: "com.microsoft.ico")
  /// Raw image of a camera.
  public static let rawImage = UTType(constant: "public.camera-raw-image")
  /// SVG image.
  public static let svg = UTType(constant: "public.svg-image")
  /// Live photo.
  public static let livePhoto = UTType(constant: "com.apple.live-photo")
  /// HEIF image.
  public static let heif = UTType(constant: "public.heif-standard")
  /// HEIC image.
  public static let heic = UTType(constant: "public.heic")
  /// WebP image.
  public static let webP = UTType(constant: "org.webmproject.webp")
  /// OpenEXR image.
  public static let exr = UTType(constant: "com.ilm.openexr-image")
  /// JPEG XL image.
  public static let jpegxl = UTType(constant: "public.jpeg-xl")
  /// Raw image (DNG).
  public static let dng = UTType(constant: "com.adobe.raw-image")
  /// 3D model.
  public static let threeDContent = UTType(constant: "public.3d-content")
  /// 3D scene.
  public static let usd = UTType(constant: "com.pixar.universal-scene-description")
  /// 3D scene (one file).
  public static let usdz = UTType(constant: "com.pixar.universal-scene-description-mobile")
  /// Reality file.
  public static let realityFile = UTType(constant: "com.apple.reality")
  /// SceneKit scene.
  public static let sceneKitScene = UTType(constant: "com.apple.scenekit.scene")
  /// Reference object.
  public static let arReferenceObject = UTType(constant: "com.apple.arobject")
  /// Audiovisual content.
  public static let audiovisualContent = UTType(constant: "public.audiovisual-content")
  /// Movie.
  public static let movie = UTType(constant: "public.movie")
  /// Video.
  public static let video = UTType(constant: "public.video")
  /// Audio.
  public static let audio = UTType(constant: "public.audio")
  /// QuickTime movie.
  public static let quickTimeMovie = UTType(constant: "com.apple.quicktime-movie")
  /// MPEG movie.
  public static let mpeg = UTType(constant: "public.mpeg")
  /// MPEG-2 video.
  public static let mpeg2Video = UTType(constant: "public.mpeg-2-video")
  /// MPEG-2 stream.
  public static let mpeg2TransportStream = UTType(constant: "public.mpeg-2-transport-stream")
  /// MP3 audio.
  public static let mp3 = UTType(constant: "public.mp3")
  /// MPEG-4 movie.
  public static let mpeg4Movie = UTType(constant: "public.mpeg-4")
  /// MPEG-4 audio.
  public static let mpeg4Audio = UTType(constant: "public.mpeg-4-audio")
  /// Protected audio.
  public static let appleProtectedMPEG4Audio = UTType(constant: "com.apple.protected-mpeg-4-audio")
  /// Protected movie.
  public static let appleProtectedMPEG4Video = UTType(constant: "com.apple.protected-mpeg-4-video")
  /// AVI movie.
  public static let avi = UTType(constant: "public.avi")
  /// AIFF audio.
  public static let aiff = UTType(constant: "public.aiff-audio")
  /// Waveform audio.
  public static let wav = UTType(constant: "com.microsoft.waveform-audio")
  /// MIDI.
  public static let midi = UTType(constant: "public.midi-audio")
  /// Playlist.
  public static let playlist = UTType(constant: "public.playlist")
  /// Playlist (M3U).
  public static let m3uPlaylist = UTType(constant: "public.m3u-playlist")
  /// Folder.
  public static let folder = UTType(constant: "public.folder")
  /// Volume.
  public static let volume = UTType(constant: "public.volume")
  /// Package.
  public static let package = UTType(constant: "com.apple.package")
  /// Bundle.
  public static let bundle = UTType(constant: "com.apple.bundle")
  /// Plug-in.
  public static let pluginBundle = UTType(constant: "com.apple.plugin")
  /// Metadata importer.
  public static let spotlightImporter = UTType(constant: "com.apple.metadata-importer")
  /// Preview generator.
  public static let quickLookGenerator = UTType(constant: "com.apple.quicklook-generator")
  /// Service.
  public static let xpcService = UTType(constant: "com.apple.xpc-service")
  /// Framework.
  public static let framework = UTType(constant: "com.apple.framework")
  /// Application.
  public static let application = UTType(constant: "com.apple.application")
  /// Application.
  public static let applicationBundle = UTType(constant: "com.apple.application-bundle")
  /// Application extension.
  public static let applicationExtension = UTType(constant: "com.apple.application-and-system-extension")
  /// Program.
  public static let unixExecutable = UTType(constant: "public.unix-executable")
  /// Windows program.
  public static let exe = UTType(constant: "com.microsoft.windows-executable")
  /// Settings pane.
  public static let systemPreferencesPane = UTType(constant: "com.apple.systempreference.prefpane")
  /// Archive.
  public static let archive = UTType(constant: "public.archive")
  /// Gzip archive.
  public static let gzip = UTType(constant: "org.gnu.gnu-zip-archive")
  /// Bzip2 archive.
  public static let bz2 = UTType(constant: "public.bzip2-archive")
  /// ZIP archive.
  public static let zip = UTType(constant: "public.zip-archive")
  /// Apple archive.
  public static let appleArchive = UTType(constant: "com.apple.archive")
  /// Tar archive.
  public static let tarArchive = UTType(constant: "public.tar-archive")
  /// Spreadsheet.
  public static let spreadsheet = UTType(constant: "public.spreadsheet")
  /// Presentation.
  public static let presentation = UTType(constant: "public.presentation")
  /// Database.
  public static let database = UTType(constant: "public.database")
  /// Message.
  public static let message = UTType(constant: "public.message")
  /// Contact.
  public static let contact = UTType(constant: "public.contact")
  /// Contact (vCard).
  public static let vCard = UTType(constant: "public.vcard")
  /// To-do item.
  public static let toDoItem = UTType(constant: "public.to-do-item")
  /// Calendar event.
  public static let calendarEvent = UTType(constant: "public.calendar-event")
  /// E-mail message.
  public static let emailMessage = UTType(constant: "public.email-message")
  /// Internet location.
  public static let internetLocation = UTType(constant: "com.apple.internet-location")
  /// Web shortcut.
  public static let internetShortcut = UTType(constant: "com.microsoft.internet-shortcut")
  /// Font.
  public static let font = UTType(constant: "public.font")
  /// Bookmark.
  public static let bookmark = UTType(constant: "public.bookmark")
  /// Certificates with keys.
  public static let pkcs12 = UTType(constant: "com.rsa.pkcs-12")
  /// Certificate.
  public static let x509Certificate = UTType(constant: "public.x509-certificate")
  /// Electronic book.
  public static let epub = UTType(constant: "org.idpf.epub-container")
  /// Log.
  public static let log = UTType(constant: "public.log")
  /// Haptic pattern.
  public static let ahap = UTType(constant: "com.apple.haptics.ahap")
  /// Geographic data.
  public static let geoJSON = UTType(constant: "public.geojson")
  /// Link preview.
  public static let linkPresentationMetadata = UTType(constant: "com.apple.linkpresentation.metadata")
}
