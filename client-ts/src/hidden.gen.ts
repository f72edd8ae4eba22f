// Made by `make wire` from server/countersign/gate/probes/hidden_characters.py; not edited by hand.

/** Control, format, bidirectional, private and never-drawn characters, as the inside of a character class. */
export const HIDDEN_RANGES =
  '\\u{0}-\\u{1f}\\u{7f}-\\u{9f}\\u{ad}\\u{34f}\\u{600}-\\u{605}\\u{61c}' +
  '\\u{6dd}\\u{70f}\\u{890}-\\u{891}\\u{8e2}\\u{115f}-\\u{1160}\\u{17b4}-\\u{17b5}' +
  '\\u{180b}-\\u{180f}\\u{200b}-\\u{200f}\\u{2028}-\\u{202e}\\u{2060}-\\u{206f}\\u{2800}\\u{3164}' +
  '\\u{d800}-\\u{f8ff}\\u{fe00}-\\u{fe0f}\\u{feff}\\u{ffa0}\\u{fff0}-\\u{fffc}\\u{110bd}' +
  '\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{ffffd}' +
  '\\u{100000}-\\u{10fffd}';
