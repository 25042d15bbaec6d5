import Review
import Testing
