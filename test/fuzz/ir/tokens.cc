#include "test/fuzz/ir/tokens.h"

#include <cctype>

namespace coll::fuzz {
namespace {

bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '@' ||
         c == '#' || c == '!' || c == '^';
}
bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

// The end of the token that starts at `i`.
size_t endOf(const std::string &text, size_t i, TokenKind &kind) {
  size_t end = i + 1;
  char c = text[i];
  if (std::isspace(static_cast<unsigned char>(c))) {
    kind = TokenKind::Space;
  } else if (c == '/' && end < text.size() && text[end] == '/') {
    kind = TokenKind::Comment;
    end = std::min(text.find('\n', i), text.size());
  } else if (c == '"') {
    kind = TokenKind::Text;
    while (end < text.size() && text[end] != '"' && text[end] != '\n')
      end += text[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, text.size());
  } else if (isDigit(c)) {
    kind = TokenKind::Number;
    while (end < text.size() && isDigit(text[end]))
      ++end;
  } else if (isWordStart(c)) {
    kind = TokenKind::Word;
    while (end < text.size() && isWordPart(text[end]))
      ++end;
  } else {
    kind = TokenKind::Mark;
  }
  return end;
}

class Mutator {
public:
  Mutator(const std::string &text, const std::string &other, Random &random)
      : tokens_(tokenize(text)), others_(tokenize(other)), random_(random) {}

  std::string mutate() {
    static const std::vector<int> kCounts = {1, 1, 1, 1, 2, 2, 3, 6};
    for (int i = random_.pick(kCounts); i > 0 && !tokens_.empty(); --i)
      mutateOnce();
    return join(tokens_);
  }

private:
  void mutateOnce() {
    using Change = void (Mutator::*)();
    static const std::vector<Change> kChanges = {&Mutator::changeNumber,
                                                 &Mutator::changeNumber,
                                                 &Mutator::changeNumberEverywhere,
                                                 &Mutator::changeNumberEverywhere,
                                                 &Mutator::changeWord,
                                                 &Mutator::changeWord,
                                                 &Mutator::changeType,
                                                 &Mutator::changeTypeEverywhere,
                                                 &Mutator::eraseTokens,
                                                 &Mutator::repeatTokens,
                                                 &Mutator::exchangeTokens,
                                                 &Mutator::eraseLine,
                                                 &Mutator::repeatLine,
                                                 &Mutator::exchangeLines,
                                                 &Mutator::takeLine,
                                                 &Mutator::takeWord};
    (this->*random_.pick(kChanges))();
  }

  // Index of a token of the kind, or npos.
  size_t find(const std::vector<Token> &tokens, TokenKind kind) {
    size_t start = tokens.empty() ? 0 : size_t(random_.below(int64_t(tokens.size())));
    for (size_t i = 0; i < tokens.size(); ++i)
      if (size_t at = (start + i) % tokens.size(); tokens[at].kind == kind)
        return at;
    return std::string::npos;
  }
  size_t anywhere() { return size_t(random_.below(int64_t(tokens_.size()))); }

  std::string randomNumber(const std::string &old) {
    static const std::vector<std::string> kNumbers = {"0",
                                                      "1",
                                                      "2",
                                                      "3",
                                                      "4",
                                                      "5",
                                                      "7",
                                                      "8",
                                                      "16",
                                                      "64",
                                                      "127",
                                                      "1000",
                                                      "65536",
                                                      "2147483648",
                                                      "4294967296",
                                                      "9223372036854775807",
                                                      "18446744073709551616"};
    int64_t value = old.size() < 10 ? std::stoll(old) : 0;
    switch (random_.below(4)) {
    case 0:
      return std::to_string(value + 1);
    case 1:
      return std::to_string(std::max<int64_t>(value - 1, 0));
    case 2:
      return std::to_string(random_.between(0, 9));
    default:
      return random_.pick(kNumbers);
    }
  }

  void changeNumber() {
    size_t at = find(tokens_, TokenKind::Number);
    if (at != std::string::npos)
      tokens_[at].text = randomNumber(tokens_[at].text);
  }

  // Shapes stay consistent, mostly.
  void changeNumberEverywhere() {
    size_t at = find(tokens_, TokenKind::Number);
    if (at == std::string::npos)
      return;
    std::string old = tokens_[at].text;
    std::string next =
        random_.chance(0.8) ? std::to_string(random_.between(0, 13)) : randomNumber(old);
    // In `2x3xf32` the marks between numbers are words: x3, xf32.
    for (Token &token : tokens_) {
      if (token.kind == TokenKind::Number && token.text == old)
        token.text = next;
      if (token.kind == TokenKind::Word && token.text.rfind("x" + old + "x", 0) == 0)
        token.text = "x" + next + token.text.substr(old.size() + 1);
    }
  }

  // Another word of the same sort: %value, @symbol, #alias or a plain one.
  void changeWord() {
    size_t at = find(tokens_, TokenKind::Word);
    for (int tries = 0; at != std::string::npos && tries < 20; ++tries) {
      size_t by = find(tokens_, TokenKind::Word);
      bool isPlain = std::isalpha(static_cast<unsigned char>(tokens_[at].text[0]));
      bool isSame = isPlain ? std::isalpha(static_cast<unsigned char>(tokens_[by].text[0]))
                            : tokens_[by].text[0] == tokens_[at].text[0];
      if (isSame && tokens_[by].text != tokens_[at].text) {
        tokens_[at].text = tokens_[by].text;
        return;
      }
    }
  }

  const std::string &randomType() {
    static const std::vector<std::string> kTypes = {
        "f32",   "f64", "f16",  "bf16", "i1",       "i8",   "i16",  "i32",         "i64",
        "index", "ui8", "ui32", "i4",   "f8E4M3FN", "none", "i128", "complex<f32>"};
    return random_.pick(kTypes);
  }
  // The element type at the end of a word such as xf32, or the word itself.
  static std::string typeIn(const std::string &word) {
    for (const char *type : {"bf16", "f32", "f64", "f16", "i64", "i32", "i16", "i8", "i1"}) {
      std::string name = type;
      if (word == name || (word.size() > name.size() && word[0] == 'x' &&
                           word.compare(word.size() - name.size(), name.size(), name) == 0))
        return name;
    }
    return "";
  }
  static void replaceType(Token &token, const std::string &old, const std::string &next) {
    token.text = token.text.substr(0, token.text.size() - old.size()) + next;
  }

  void changeType() {
    std::string next = randomType();
    size_t start = anywhere();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      Token &token = tokens_[(start + i) % tokens_.size()];
      std::string old = token.kind == TokenKind::Word ? typeIn(token.text) : "";
      if (old.empty())
        continue;
      replaceType(token, old, next);
      return;
    }
  }

  void changeTypeEverywhere() {
    static const std::vector<std::string> kOld = {"f32", "i32", "i64", "f64"};
    std::string old = random_.pick(kOld), next = randomType();
    for (Token &token : tokens_)
      if (token.kind == TokenKind::Word && typeIn(token.text) == old)
        replaceType(token, old, next);
  }

  void eraseTokens() {
    size_t at = anywhere(), count = size_t(random_.between(1, random_.chance(0.2) ? 12 : 2));
    count = std::min(count, tokens_.size() - at);
    tokens_.erase(tokens_.begin() + long(at), tokens_.begin() + long(at + count));
  }

  void repeatTokens() {
    size_t at = anywhere(),
           count = std::min<size_t>(size_t(random_.between(1, 6)), tokens_.size() - at);
    std::vector<Token> copy(tokens_.begin() + long(at), tokens_.begin() + long(at + count));
    tokens_.insert(tokens_.begin() + long(at), copy.begin(), copy.end());
  }

  void exchangeTokens() {
    size_t a = anywhere(), b = find(tokens_, tokens_[a].kind);
    std::swap(tokens_[a], tokens_[b]);
  }

  struct Line {
    size_t begin, end;
  };
  Line findLine(const std::vector<Token> &tokens) {
    size_t at = size_t(random_.below(int64_t(tokens.size())));
    Line line{at, at};
    while (line.begin > 0 && tokens[line.begin - 1].text != "\n")
      --line.begin;
    while (line.end < tokens.size() && tokens[line.end].text != "\n")
      ++line.end;
    line.end = std::min(line.end + 1, tokens.size());
    return line;
  }
  std::vector<Token> copyOf(const std::vector<Token> &tokens, Line line) {
    return {tokens.begin() + long(line.begin), tokens.begin() + long(line.end)};
  }

  void eraseLine() {
    Line line = findLine(tokens_);
    tokens_.erase(tokens_.begin() + long(line.begin), tokens_.begin() + long(line.end));
  }
  void repeatLine() {
    std::vector<Token> copy = copyOf(tokens_, findLine(tokens_));
    tokens_.insert(tokens_.begin() + long(findLine(tokens_).begin), copy.begin(), copy.end());
  }
  void exchangeLines() {
    Line line = findLine(tokens_);
    std::vector<Token> copy = copyOf(tokens_, line);
    tokens_.erase(tokens_.begin() + long(line.begin), tokens_.begin() + long(line.end));
    if (!tokens_.empty())
      tokens_.insert(tokens_.begin() + long(findLine(tokens_).begin), copy.begin(), copy.end());
  }
  void takeLine() {
    if (others_.empty())
      return;
    std::vector<Token> copy = copyOf(others_, findLine(others_));
    tokens_.insert(tokens_.begin() + long(findLine(tokens_).begin), copy.begin(), copy.end());
  }
  void takeWord() {
    size_t at = find(tokens_, TokenKind::Word), from = find(others_, TokenKind::Word);
    if (at != std::string::npos && from != std::string::npos)
      tokens_[at] = others_[from];
  }

  std::vector<Token> tokens_, others_;
  Random &random_;
};

} // namespace

std::vector<Token> tokenize(const std::string &text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    TokenKind kind;
    size_t end = endOf(text, i, kind);
    if (kind != TokenKind::Comment)
      tokens.push_back({kind, text.substr(i, end - i)});
    i = end;
  }
  return tokens;
}

std::string join(const std::vector<Token> &tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

std::string mutateTokens(const std::string &text, const std::string &other, Random &random) {
  return Mutator(text, other, random).mutate();
}

} // namespace coll::fuzz
