// AmbitKit
