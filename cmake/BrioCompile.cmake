# The options that all of Brio's own C is compiled with.
find_package(Threads REQUIRED)

add_library(brio_options INTERFACE)
target_compile_options(brio_options INTERFACE -pthread -Wall -Wextra -Wshadow -Wconversion
                       -fno-common -D_GNU_SOURCE=)
target_link_libraries(brio_options INTERFACE -pthread)
if(BRIO_WERROR)
  target_compile_options(brio_options INTERFACE -Werror)
endif()
if(BRIO_SANITIZE)
  add_compile_options(-fsanitize=${BRIO_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BRIO_SANITIZE})
  if(BRIO_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
