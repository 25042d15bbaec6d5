// PickerUI
