# Fails unless README shows EXAMPLE, word for word, in a block of C.
file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(FIND "${readme}" "```c\n${example}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${README} does not show ${EXAMPLE} as it is: copy it into the block that begins with ```c")
endif()
