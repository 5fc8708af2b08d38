// tokens.h - IR text as tokens, and random changes of it.

#ifndef COLL_TEST_FUZZ_IR_TOKENS_H
#define COLL_TEST_FUZZ_IR_TOKENS_H

#include "test/fuzz/random.h"

#include <string>
#include <vector>

namespace coll::fuzz {

enum class TokenKind { Space, Comment, Word, Number, Text, Mark };

struct Token {
  TokenKind kind;
  std::string text;
};

std::vector<Token> tokenize(const std::string &text);
std::string join(const std::vector<Token> &tokens);

// Changes the text in up to a few places: tokens are deleted, repeated, exchanged or replaced by
// others of their kind, lines are moved or taken from `other`, one number becomes another
// everywhere.
std::string mutateTokens(const std::string &text, const std::string &other, Random &random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_IR_TOKENS_H
